"""Every way of nvidia-smi and the driver to fail has its own finding, and none of them counts as zero cards."""

from __future__ import annotations

import pytest
from captured import code_set, codes, read, record


def smi(text: str, rc: int | None = None):  # type: ignore[no-untyped-def]
    return read("nvidia-smi", text, rc)


ERRORS = {
    "Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error": ("gpu.lost", "gpu:00000000:0B:00.0"),
    "Unable to determine the device handle for GPU0: 0000:17:00.0: Unknown Error\nNo devices were found": (
        "gpu.lost",
        "gpu:00000000:17:00.0",
    ),
    "Unable to determine the device handle for gpu 000:BA:80.0: Unknown Error": ("gpu.lost", "gpu:00000000:BA:80.0"),
    "Unable to determine the device handle for GPU 0000:41:00.0: Insufficient Permissions": (
        "gpu.permission_denied",
        "gpu:00000000:41:00.0",
    ),
    "Unable to determine the device handle for GPU 0000:41:00.0: GPU access blocked by the operating system": (
        "gpu.access_blocked",
        "gpu:00000000:41:00.0",
    ),
    "Unable to determine the device handle for GPU 0000:41:00.0: GPU requires reset": (
        "gpu.reset_required",
        "gpu:00000000:41:00.0",
    ),
    "Failed to initialize NVML: Unknown Error": ("gpu.container_lost_device", "tool:nvidia-smi"),
    "Failed to initialize NVML: Driver Not Loaded": ("gpu.driver_unreachable", "tool:nvidia-smi"),
    "Failed to initialize NVML: Insufficient Permissions": ("gpu.permission_denied", "tool:nvidia-smi"),
    "Failed to initialize NVML: GPU access blocked by the operating system": ("gpu.access_blocked", "tool:nvidia-smi"),
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
    "driver is installed and running.": ("gpu.driver_unreachable", "tool:nvidia-smi"),
    "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver\n"
    "is properly installed and present in your system.\n"
    "Please also try adding directory that contains libnvidia-ml.so to your system PATH.": (
        "gpu.driver_library_missing",
        "tool:nvidia-smi",
    ),
    "bash: nvidia-smi: command not found": ("command.missing", "tool:nvidia-smi"),
    'OCI runtime exec failed: exec failed: unable to start container process: exec: "nvidia-smi": executable file not '
    "found in $PATH: unknown": ("command.missing", "tool:nvidia-smi"),
    "cat: /proc/driver/nvidia/version: No such file or directory": ("gpu.driver_unreachable", "tool:nvidia-smi"),
    "Option --foo is not recognized. Please run 'nvidia-smi -h'.": ("gpu.query_refused", "tool:nvidia-smi"),
    "Segmentation fault (core dumped)": ("command.failed", "tool:nvidia-smi"),
    'Field "clocks_event_reasons.active" is not a valid field to query.': (
        "gpu.query_field_unknown",
        "tool:nvidia-smi",
    ),
}


@pytest.mark.parametrize("text", sorted(ERRORS))
def test_each_error_text_has_its_own_finding(text: str) -> None:
    assert codes(smi(text, 9)) == [ERRORS[text]]


@pytest.mark.parametrize("text", [one for one in sorted(ERRORS) if "No devices" not in one])
def test_no_error_text_counts_as_zero_cards(text: str) -> None:
    assert record(smi(text, 9), "gpu_inventory")["card_count"] is None


def test_the_unknown_field_is_named_so_that_it_can_be_dropped() -> None:
    (found,) = smi('Field "power.draw.instant" is not a valid field to query.\n\n', 2).findings
    assert found.evidence["field"] == "power.draw.instant"
    assert found.severity == "warning"


def test_rows_before_a_lost_card_are_kept_and_the_count_stays_unknown() -> None:
    seen = smi(
        "index, uuid\n0, GPU-11111111-1111-1111-1111-111111111111\n"
        "Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.  Reboot the "
        "system to recover this GPU\n"
    )
    assert record(seen, "gpu_card")["index"] == 0
    assert record(seen, "gpu_inventory")["card_count"] is None
    assert code_set(seen) == {"gpu.lost"}


def test_a_lost_card_in_a_cell_is_found() -> None:
    seen = smi("index, uuid, memory.used [MiB]\n0, GPU-1111, 5 MiB\n1, GPU-2222, [GPU is lost]\n")
    assert ("gpu.lost", "gpu:1") in codes(seen)
    assert record(seen, "gpu_card", 1)["memory_used_mib"] is None


def test_a_fan_that_answers_unknown_error_is_no_sick_card() -> None:
    seen = smi("index, fan.speed [%]\n0, [Unknown Error]\n")
    assert record(seen, "gpu_card")["unknown"]["fan_percent"] == "[Unknown Error]"
    assert code_set(seen) == {"gpu.value_unknown"}


def test_memory_that_answers_unknown_error_is() -> None:
    assert codes(smi("index, memory.used [MiB]\n0, [Unknown Error]\n")) == [("gpu.handle_error", "gpu:0")]


@pytest.mark.parametrize(
    ("line", "code", "severity"),
    [
        (
            "NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "gpu.lost",
            "critical",
        ),
        ("[  12.3] NVRM: Xid (PCI:0000:41:00): 13, pid=123, name=python3, Graphics Exception", "gpu.xid", "warning"),
        ("NVRM: Xid (PCI:0000:41:00): 94, Contained ECC error", "gpu.memory_fault", "error"),
        ("NVRM: Xid (PCI:0000:41:00): 119, Timeout waiting for RPC from GSP", "gpu.driver_fault", "critical"),
        (
            "NVRM: Persistence mode is deprecated and will be removed. Please use nvidia-persistenced instead.",
            "gpu.persistence_legacy",
            "info",
        ),
        ("NVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x24:0x65:1423)", "gpu.driver_fault", "critical"),
    ],
)
def test_kernel_lines_are_told_apart(line: str, code: str, severity: str) -> None:
    assert [(one.code, one.severity) for one in smi(line).findings] == [(code, severity)]


def test_an_api_mismatch_over_two_lines_names_both_versions() -> None:
    text = (
        "NVRM: API mismatch: the client has the version 535.161.07, but\nNVRM: this "
        "kernel module has the version 535.154.05.  Please\n"
    )
    (found,) = smi(text).findings
    assert (found.code, found.evidence["library"], found.evidence["loaded"]) == (
        "gpu.driver_mismatch",
        "535.161.07",
        "535.154.05",
    )
