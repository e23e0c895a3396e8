"""Forms of nvidia-smi that operators meet beside the saved ones: settings, lists, reports, and every way to fail."""

from __future__ import annotations

import pytest
from captured import code_set, codes, read, record

from gpu_seats.observe.nvidia.parse import parse_nvidia_smi
from gpu_seats.observe.nvidia.values import bus_id, cell, mib, version, watts


def smi(text: str, rc: int | None = None):  # type: ignore[no-untyped-def]
    return read("nvidia-smi", text, rc)


def test_a_card_without_settable_limits_is_said_to_be_so_by_its_uuid() -> None:
    seen = smi(
        "index, uuid, power.draw [W], power.limit [W], power.min_limit [W], power.max_limit [W]\n"
        "0, GPU-aaaa, [Not Supported], [Not Supported], [Not Supported], [Not Supported]\n"
    )
    card = record(seen, "gpu_card")
    assert card["power_draw_watts"] is None
    assert "power cap unsupported on GPU-aaaa" in seen.findings[0].message


def test_swapped_indexes_leave_uuids_as_the_key() -> None:
    before = smi("index, uuid\n0, GPU-aa\n1, GPU-bb\n")
    after = smi("index, uuid\n0, GPU-bb\n1, GPU-aa\n")
    by_uuid = [{one.as_dict()["uuid"] for one in seen.records[1:]} for seen in (before, after)]
    assert by_uuid[0] == by_uuid[1]


def test_columns_without_a_header_come_from_the_command() -> None:
    seen = smi("# $ nvidia-smi --query-gpu=power.limit --format=csv,noheader,nounits\n275.00\n300.00\n")
    assert [one.as_dict()["power_limit_watts"] for one in seen.records[1:]] == [275.0, 300.0]


def test_columns_without_a_header_come_from_the_caller() -> None:
    parsed = parse_nvidia_smi("0, GPU-aa, 97887\n", fields=["index", "uuid", "memory.total"])
    assert parsed.records[1].as_dict()["memory_total_mib"] == 97887.0


def test_columns_that_nobody_names_are_not_guessed() -> None:
    seen = smi("0, GPU-11111111-1111-1111-1111-111111111111, 275.00 W\n")
    card = record(seen, "gpu_card")
    assert (card["index"], card["uuid"]) == (0, "GPU-11111111-1111-1111-1111-111111111111")
    assert card["power_limit_watts"] is None
    assert code_set(seen) == {"parse.columns_unknown"}


def test_a_row_that_is_cut_is_a_finding_and_the_others_count() -> None:
    seen = smi("index, uuid, name\n0, GPU-aa, A\n1, GPU-b\n")
    assert [one.kind for one in seen.records] == ["gpu_inventory", "gpu_card"]
    assert code_set(seen) == {"parse.row_malformed"}


def test_process_names_with_commas_stay_whole() -> None:
    seen = smi(
        "# $ nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv,noheader\n"
        "GPU-aa, 77, python3, serve, --x=1,2, 900 MiB\n"
    )
    process = record(seen, "gpu_process")
    assert process["name"] == "python3, serve, --x=1,2"
    assert process["used_memory_mib"] == 900.0


def test_a_note_about_the_inforom_does_not_spoil_the_rows() -> None:
    seen = smi("index, name\n0, X\nWARNING: infoROM is corrupted at gpu 0000:88:00.0\n", 14)
    assert record(seen, "gpu_card")["name"] == "X"
    assert codes(seen) == [("gpu.inforom_corrupted", "gpu:00000000:88:00.0")]


LISTING = """GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16)
  MIG 1g.10gb     Device  0: (UUID: MIG-feb88891-0321-5fef-9c87-d4af3b54259e)
  MIG 3g.20gb Device 1: (UUID: MIG-GPU-2ac434d3-1aca-57a0-597d-1d2effdba9f3/2/0)
GPU 1: NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition (UUID: GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff17)
"""


def test_the_list_gives_cards_and_mig_devices_of_old_and_new_drivers() -> None:
    seen = smi(LISTING)
    assert record(seen, "gpu_inventory")["card_count"] == 2
    assert [one["profile"] for one in record(seen, "gpu_card")["mig_devices"]] == ["1g.10gb", "3g.20gb"]
    assert record(seen, "gpu_card", 1)["mig_devices"] == []
    assert codes(seen) == [("gpu.mig_enabled", "gpu:0")]


def test_a_set_limit_tells_before_and_after() -> None:
    seen = smi("Power limit for GPU 00000000:41:00.0 was set to 275.00 W from 300.00 W.\nAll done.\n", 0)
    assert record(seen, "power_limit_change") == {
        "record": "power_limit_change",
        "bus_id": "00000000:41:00.0",
        "limit_watts": 275.0,
        "before_watts": 300.0,
        "changed": True,
    }
    assert seen.findings == []


def test_a_limit_that_was_the_same_before_is_no_change() -> None:
    seen = smi("Power limit for GPU 00000000:41:00.0 was set to 275.00 W from 275.00 W.\nAll done.\n", 0)
    assert record(seen, "power_limit_change")["changed"] is False


def test_an_unsupported_limit_is_an_error_although_the_tool_exits_with_0() -> None:
    text = (
        "Changing power management limit is not supported for GPU: "
        "00000000:01:00.0.\nTreating as warning and moving on.\nAll done.\n"
    )
    (found,) = smi(text, 0).findings
    assert (found.code, found.subject, found.severity) == (
        "gpu.power_limit_unsupported",
        "gpu:00000000:01:00.0",
        "error",
    )


def test_a_refused_limit_names_the_allowed_range() -> None:
    text = (
        "Provided power limit 200.00 W is not a valid power limit which should be between 250.00 W and 325.00 W for "
        "GPU 00000000:41:00.0\nTerminating early due to previous errors.\n"
    )
    (found,) = smi(text, 2).findings
    assert found.code == "gpu.power_limit_refused"
    assert (found.evidence["wanted_watts"], found.evidence["min_watts"], found.evidence["max_watts"]) == (200, 250, 325)
    assert "250.00 W to 325.00 W" in found.message


@pytest.mark.parametrize(
    "text",
    [
        "Failed to set power management limit for GPU 00000000:41:00.0: Insufficient Permissions",
        "Unable to set persistence mode for GPU 00000000:41:00.0: Insufficient Permissions",
        "The current user does not have permission to change clocks for GPU 00000000:41:00.0.",
    ],
)
def test_missing_rights_are_told_from_refusals(text: str) -> None:
    seen = smi(f"{text}\nTerminating early due to previous errors.\n", 4)
    assert codes(seen) == [("gpu.permission_denied", "gpu:00000000:41:00.0")]


def test_all_done_without_a_change_is_suspect() -> None:
    assert codes(smi("All done.\n", 0)) == [("gpu.setting_no_effect", "tool:nvidia-smi")]


def test_a_limit_set_without_persistence_is_said_to_be_lost_soon() -> None:
    text = (
        "Power limit for GPU 00000000:19:00.0 was set to 120.00 W from 250.00 W.\n"
        "Warning: persistence mode is disabled on this device. This settings will go back to default as soon as driver "
        "unloads (e.g. last application like nvidia-smi or cuda application terminates). Run "
        "with [--help | -h] switch to "
        "get more information on how to enable persistence mode.\n\nAll done.\n"
    )
    seen = smi(text, 0)
    assert code_set(seen) == {"gpu.persistence_off"}
    assert seen.notes == []


REPORT = """
==============NVSMI LOG==============

Timestamp                                              : Tue Sep  1 20:47:29 2026
Driver Version                                         : 610.43.02 [Deprecated; will be removed in CUDA 14.0.]
KMD Version                                            : 610.43.02
CUDA UMD Version                                       : 13.3

Attached GPUs                                          : 2
GPU 00000000:01:00.0
    Product Name                                       : NVIDIA H200
    GPU UUID                                           : GPU-00000000-0000-0000-0000-000000000000
    MIG Mode
        Current                                        : Disabled
        Pending                                        : Disabled
    Utilization
        GPU                                            : N/A
        Memory                                         : N/A
    FB Memory Usage
        Total                                          : 143771 MiB
        Reserved                                       : 623 MiB
        Used                                           : 44 MiB
        Free                                           : 143105 MiB
    BAR1 Memory Usage
        Total                                          : 262144 MiB
    GPU Power Readings
        Average Power Draw                             : 130.28 W
        Instantaneous Power Draw                       : 130.66 W
        GPU Ceiling Power Limit
            Current Power Limit                        : 600.00 W
            Requested Power Limit                      : 700.00 W
            Default Power Limit                        : 700.00 W
        GPU Base Power
            Current Base Power                         : N/A
        Min Power Limit                                : 200.00 W
        Max Power Limit                                : 700.00 W
    GPU Memory Power Readings
        Average Power Draw                             : 43.50 W
    Module Power Readings
        Current Power Limit                            : N/A
    Processes
        GPU instance ID                                : N/A
        Compute instance ID                            : N/A
        Process ID                                     : 1234
            Type                                       : C
            Name                                       : VLLM::EngineCore
            Used GPU Memory                            : 900 MiB
GPU 00000000:21:00.0
    Power Readings
        Power Management                               : Supported
        Power Draw                                     : 25.58 W
        Power Limit                                    : 300.00 W
        Default Power Limit                            : 300.00 W
        Enforced Power Limit                           : 275.00 W
        Min Power Limit                                : 100.00 W
        Max Power Limit                                : 300.00 W
"""


def test_the_text_report_reads_the_limits_of_old_and_new_drivers() -> None:
    seen = smi(REPORT)
    new, old = record(seen, "gpu_card"), record(seen, "gpu_card", 1)
    assert (new["power_limit_watts"], new["enforced_power_limit_watts"], new["power_draw_watts"]) == (700, 600, 130.28)
    assert (old["power_limit_watts"], old["enforced_power_limit_watts"], old["power_draw_watts"]) == (300, 275, 25.58)
    assert new["memory_total_mib"] == 143771.0
    assert old["unknown"]["memory_total_mib"] == "not in this part of the report"


def test_the_text_report_takes_the_version_not_the_remark_behind_it() -> None:
    inventory = record(smi(REPORT), "gpu_inventory")
    assert (inventory["driver_version"], inventory["cuda_version"], inventory["card_count"]) == ("610.43.02", "13.3", 2)


def test_the_text_report_lists_processes() -> None:
    process = record(smi(REPORT), "gpu_process")
    assert (process["pid"], process["name"], process["used_memory_mib"]) == (1234, "VLLM::EngineCore", 900.0)


def test_a_cut_xml_document_gives_the_cards_before_the_cut() -> None:
    whole = (
        "<?xml version='1.0'?><nvidia_smi_log><driver_version>590.1</driver_version><attached_gpus>2</attached_gpus>"
    )
    card = "<gpu id='00000000:01:00.0'><uuid>GPU-aa</uuid></gpu>"
    seen = smi(whole + card.replace("'", '"') + '<gpu id="00000000:21:00.0"><uuid>GPU-b')
    assert record(seen, "gpu_card")["uuid"] == "GPU-aa"
    assert record(seen, "gpu_inventory")["card_count"] is None
    assert code_set(seen) == {"parse.truncated"}


def test_an_old_document_without_most_tags_is_read() -> None:
    seen = smi(
        '<nvidia_smi_log><gpu id="00000000:01:00.0"><product_name>GeForce GTX 1070 Ti</product_name>'
        "<power_readings><power_draw>N/A</power_draw></power_readings></gpu></nvidia_smi_log>"
    )
    card = record(seen, "gpu_card")
    assert card["name"] == "GeForce GTX 1070 Ti"
    assert card["unknown"]["memory_total_mib"] == "not in this document type"


def test_requested_and_enforced_limits_are_kept_apart() -> None:
    seen = smi(
        '<nvidia_smi_log><gpu id="0000:01:00.0"><gpu_power_readings><current_power_limit>500.00 W</current_power_limit>'
        "<requested_power_limit>700.00 W</requested_power_limit></gpu_power_readings></gpu></nvidia_smi_log>"
    )
    card = record(seen, "gpu_card")
    assert (card["power_limit_watts"], card["enforced_power_limit_watts"]) == (700.0, 500.0)


def test_dmon_and_pmon_are_read_by_their_headers() -> None:
    dmon = smi("# gpu   pwr gtemp mtemp\n# Idx     W     C     C\n    0    43    35     -\n")
    assert record(dmon, "gpu_sample") == {
        "record": "gpu_sample",
        "index": 0,
        "values": {"pwr": "43", "gtemp": "35", "mtemp": None},
    }
    pmon = smi(
        "# gpu   pid  type  sm  command\n# Idx     #   C/G   %  name\n    0  1234     C  99  "
        "python3\n    1     -     -   -  -\n"
    )
    assert [(one.as_dict()["gpu_index"], one.as_dict()["pid"]) for one in pmon.records] == [(0, 1234)]


def test_the_topology_gives_links_between_cards() -> None:
    seen = smi(
        "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X "
        "\tNODE\tSYS\t0-23\t0\nGPU1\tNODE\t X \tSYS\t0-23\t0\nNIC0\tSYS\tSYS\t X\n"
    )
    assert record(seen, "gpu_links")["links"] == {"GPU1": "NODE", "NIC0": "SYS"}


def test_text_of_something_else_is_said_to_be_unknown_with_its_first_line() -> None:
    (found,) = smi("hello world\n").findings
    assert found.code == "parse.unrecognised"
    assert found.evidence["first_line"] == "hello world"


def test_no_output_at_all_leaves_the_cards_unknown() -> None:
    assert code_set(smi("", 0)) == {"parse.unrecognised"}


@pytest.mark.parametrize(
    "printed", ["[N/A]", "N/A", "[Not Supported]", "ERR!", "[Function Not Found]", "No data", "[anything new]", ""]
)
def test_every_way_to_say_nothing_is_a_reason(printed: str) -> None:
    assert cell(printed).text is None
    assert cell(printed).reason


@pytest.mark.parametrize(
    ("printed", "normal"),
    [
        ("0000:b3:00.0", "00000000:B3:00.0"),
        ("00000000:1E:00.0", "00000000:1E:00.0"),
        ("PCI:0000:44:00", "00000000:44:00.0"),
        ("000:BA:80.0", "00000000:BA:80.0"),
        ("nonsense", None),
    ],
)
def test_bus_ids_have_one_spelling(printed: str, normal: str | None) -> None:
    assert bus_id(printed) == normal


def test_units_are_read_and_foreign_text_is_not() -> None:
    assert (mib("97887 MiB"), mib("97887"), mib("96 GiB"), mib("x")) == (97887.0, 97887.0, 98304.0, None)
    assert (watts("275.00 W"), watts("275.00"), watts("275 MiB")) == (275.0, 275.0, None)
    assert (version("Deprecated, see"), version("595.80"), version("v 595.71.05 x")) == (None, "595.80", "595.71.05")
