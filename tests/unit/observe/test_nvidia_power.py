"""Power of every saved output of nvidia-smi, in the text reports of drivers 470 to 610, and what -pl and -pm answer.

Protects: a draw or limit that a card does not tell is unknown with its reason and never 0 W; the limit that holds is
told from the one that was asked for; a refused cap is never taken for a set one.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from captured import CAPTURES, capture, code_set, codes, read, record
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.nvidia.parse import parse_nvidia_smi
from gpu_seats.observe.records import Observation

FIELDS = (
    "power_management",
    "power_draw_watts",
    "power_draw_instant_watts",
    "power_limit_watts",
    "enforced_power_limit_watts",
    "default_power_limit_watts",
    "min_power_limit_watts",
    "max_power_limit_watts",
)
GONE = "[Requested functionality has been deprecated]"
NOT_ASKED, NO_TAG = "not asked for", "not in this document type"
POWER: dict[str, tuple[Any, ...]] = {
    "csv-h100-mig-590-noheader-nounits.txt": (GONE, 433.78, NOT_ASKED, 700.0, 700.0, 700.0, 200.0, 700.0),
    "csv-h200-590-load-noheader-nounits.txt": (GONE, 627.4, NOT_ASKED, 700.0, 700.0, 700.0, 200.0, 700.0),
    "csv-l40s-595.80-util100-noproc.txt": (GONE, 144.97, NOT_ASKED, 350.0, 350.0, 350.0, 100.0, 350.0),
    "csv-rtx2080s-610.txt": (GONE, 39.17, NOT_ASKED, 250.0, 250.0, 250.0, 105.0, 350.0),
    "xml-418-p400-power-na.xml": ("N/A", "N/A", NO_TAG, "N/A", "N/A", "N/A", "N/A", "N/A"),
    "xml-v11-515-3060-draw-only.xml": ("N/A", 8.7, NO_TAG, "N/A", "N/A", "N/A", "N/A", "N/A"),
    "xml-v11-515-a10g.xml": ("Supported", 25.58, NO_TAG, 300.0, 300.0, 300.0, 100.0, 300.0),
    "xml-v12-535-a100-mig.xml": (NO_TAG, 67.03, NO_TAG, 500.0, 500.0, 500.0, 100.0, 500.0),
    "xml-v12-570-3060.xml": (NO_TAG, 11.6, 11.63, 170.0, 170.0, 170.0, 100.0, 190.0),
    "xml-v13-595-4000sff.xml": (NO_TAG, 8.81, 8.44, 70.0, 70.0, 70.0, 30.0, 70.0),
}
"""In the order of FIELDS; text where there is no value: its reason."""
WITHOUT_CARDS = {
    "compute-apps-empty-header-only.txt",
    "compute-apps-wddm-na-memory.txt",
    "dmesg-fallen-off-multiline.txt",
    "err-gpu-lost.txt",
    "err-gpu-unknown-noblank.txt",
    "err-gpu-unknown.txt",
    "err-invalid-field.txt",
    "err-no-devices.txt",
    "err-nvml-mismatch-oneline.txt",
    "err-nvml-mismatch.txt",
    "pm-on.txt",
    "proc-version-open-vs-closed.txt",
    "table-err-cell.txt",
    "table-header-610.txt",
    "version-610.txt",
}


def smi(text: str, rc: int | None = None) -> Observation:
    return read("nvidia-smi", text, rc)


def power_of(card: dict[str, Any]) -> tuple[Any, ...]:
    """The power of a card in the order of FIELDS, its reason where there is no value."""
    return tuple(card["unknown"][name] if card[name] is None else card[name] for name in FIELDS)


def test_every_saved_output_has_expected_power() -> None:
    assert {path.name for path in (CAPTURES / "nvidia-smi").iterdir()} == {*POWER, *WITHOUT_CARDS}


@pytest.mark.parametrize("name", sorted(POWER))
def test_the_power_of_a_card_is_what_is_printed(name: str) -> None:
    card = record(capture(f"nvidia-smi/{name}"), "gpu_card")
    assert power_of(card) == POWER[name]


@pytest.mark.parametrize("name", sorted(WITHOUT_CARDS))
def test_outputs_without_cards_give_no_power(name: str) -> None:
    assert [one.kind for one in capture(f"nvidia-smi/{name}").records if one.kind == "gpu_card"] == []


@pytest.mark.parametrize("name", sorted(POWER))
def test_no_card_has_a_limit_or_draw_of_zero(name: str) -> None:
    card = record(capture(f"nvidia-smi/{name}"), "gpu_card")
    assert all(card[field] != 0 for field in FIELDS)


def report(version: str, section: str) -> str:
    return (
        "\n==============NVSMI LOG==============\n\n"
        "Timestamp                                              : Fri Jun 26 10:53:53 2026\n"
        f"Driver Version                                         : {version}\n"
        "CUDA Version                                           : 12.2\n\n"
        "Attached GPUs                                          : 1\n"
        f"GPU 00000000:06:00.0\n{section}"
    )


OLD = """\
    Power Readings
        Power Management                  : Supported
        Power Draw                        : 65.79 W
        Power Limit                       : 250.00 W
        Default Power Limit               : 300.00 W
        Enforced Power Limit              : 240.00 W
        Min Power Limit                   : 125.00 W
        Max Power Limit                   : 325.00 W
    Power Samples
        Duration                          : 2.36 sec
        Number of Samples                 : 119
        Max                               : 1616.48 W
        Min                               : 10.43 W
        Avg                               : 11.93 W
"""
NEW = """\
    GPU Power Readings
        Power Draw                        : 65.79 W
        Current Power Limit               : 240.00 W
        Requested Power Limit             : 250.00 W
        Default Power Limit               : 300.00 W
        Min Power Limit                   : 125.00 W
        Max Power Limit                   : 325.00 W
    Power Samples
        Duration                          : Not Found
        Number of Samples                 : Not Found
        Max                               : Not Found
    Module Power Readings
        Power Draw                        : N/A
        Current Power Limit               : N/A
        Requested Power Limit             : N/A
        Default Power Limit               : N/A
        Min Power Limit                   : N/A
        Max Power Limit                   : N/A
"""
NEWER = """\
    GPU Power Readings
        Average Power Draw                             : 65.79 W
        Instantaneous Power Draw                       : 66.10 W
        Current Power Limit                            : 240.00 W
        Requested Power Limit                          : 250.00 W
        Default Power Limit                            : 300.00 W
        Min Power Limit                                : 125.00 W
        Max Power Limit                                : 325.00 W
    GPU Memory Power Readings \n\
        Average Power Draw                             : 12.00 W
        Instantaneous Power Draw                       : N/A
    Module Power Readings
        Average Power Draw                             : 700.00 W
        Instantaneous Power Draw                       : 710.00 W
        Current Power Limit                            : 1000.00 W
        Requested Power Limit                          : 1000.00 W
        Default Power Limit                            : 1000.00 W
        Min Power Limit                                : 200.00 W
        Max Power Limit                                : 1000.00 W
    Power Smoothing                                    : N/A
    Workload Power Profiles
        Requested Profiles                             : N/A
        Enforced Profiles                              : N/A
    EDPp Multiplier                                    : N/A
"""
NEWEST = """\
    GPU Power Readings
        Average Power Draw                             : 65.79 W
        Instantaneous Power Draw                       : 66.10 W
        GPU Ceiling Power Limit
            Current Power Limit                        : 240.00 W
            Requested Power Limit                      : 250.00 W
            Default Power Limit                        : 300.00 W
        GPU Base Power
            Current Base Power                         : N/A
        Min Power Limit                                : 125.00 W
        Max Power Limit                                : 325.00 W
    Module Power Readings
        Current Power Limit                            : N/A
"""
LIMITS = (250.0, 240.0, 300.0, 125.0, 325.0)
REPORTS = {
    "418.43": (OLD, ("Supported", 65.79, None, *LIMITS)),
    "470.223.02": (OLD, ("Supported", 65.79, None, *LIMITS)),
    "535.183.01": (NEW, (None, 65.79, None, *LIMITS)),
    "550.163.01": (NEW, (None, 65.79, None, *LIMITS)),
    "570.124.04": (NEWER, (None, 65.79, 66.10, *LIMITS)),
    "580.126.09": (NEWER, (None, 65.79, 66.10, *LIMITS)),
    "595.71.05": (NEWER, (None, 65.79, 66.10, *LIMITS)),
    "610.43.02": (NEWEST, (None, 65.79, 66.10, *LIMITS)),
}


@pytest.mark.parametrize("version", sorted(REPORTS))
def test_the_text_report_of_every_driver_line_gives_the_same_power(version: str) -> None:
    section, expected = REPORTS[version]
    seen = smi(report(version, section))
    card = record(seen, "gpu_card")
    assert tuple(card[name] for name in FIELDS) == expected
    assert {name for name in FIELDS if card[name] is None} <= set(card["unknown"])
    assert record(seen, "gpu_inventory")["driver_version"] == version


def test_the_power_of_a_module_and_of_the_memory_stays_apart_from_the_cards() -> None:
    other = record(smi(report("580.126.09", NEWER)), "gpu_card")["other"]
    assert other["Module Power Readings/Current Power Limit"] == "1000.00 W"
    assert other["GPU Memory Power Readings/Average Power Draw"] == "12.00 W"
    assert not any("Smoothing" in key or "N/A" in value for key, value in other.items())


def test_a_draw_that_only_the_instant_tells_is_that_draw() -> None:
    text = NEWER.replace("Average Power Draw                             : 65.79 W", "Average Power Draw : N/A")
    assert record(smi(report("580.126.09", text)), "gpu_card")["power_draw_watts"] == 66.10
    seen = smi("power.draw [W], power.draw.instant [W]\n[N/A], 31.20 W\n")
    assert record(seen, "gpu_card")["power_draw_watts"] == 31.2
    document = "<average_power_draw>N/A</average_power_draw><instant_power_draw>2.42 W</instant_power_draw>"
    section = f"<gpu_power_readings>{document}</gpu_power_readings>"
    seen = smi(f'<nvidia_smi_log><gpu id="0000:01:00.0">{section}</gpu></nvidia_smi_log>')
    assert record(seen, "gpu_card")["power_draw_watts"] == 2.42


def test_a_laptop_card_whose_limit_is_enforced_but_not_settable() -> None:
    seen = smi(
        "index, power.draw [W], power.limit [W], enforced.power.limit [W], power.min_limit [W], power.max_limit [W]\n"
        "0, 18.20 W, [Not Supported], 80.00 W, [Not Supported], [Not Supported]\n"
    )
    card = record(seen, "gpu_card")
    assert (card["power_limit_watts"], card["enforced_power_limit_watts"]) == (None, 80.0)
    assert ("gpu.power_limit_unsupported", "gpu:0") in codes(seen)


@pytest.mark.parametrize(
    "sentinel", ["[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU is lost]", "[Insufficient Permissions]", "ERR!"]
)
def test_a_bracketed_power_is_unknown_for_that_reason(sentinel: str) -> None:
    rows = f"0, GPU-aa11, {sentinel}, {sentinel}\n1, GPU-bb22, 30.00 W, 275.00 W\n"
    seen = smi("index, uuid, power.draw [W], power.limit [W]\n" + rows)
    first, second = record(seen, "gpu_card"), record(seen, "gpu_card", 1)
    assert (first["power_draw_watts"], first["unknown"]["power_draw_watts"]) == (None, sentinel)
    assert (second["power_draw_watts"], second["power_limit_watts"]) == (30.0, 275.0)


SET = "Power limit for GPU 00000000:3B:00.0 was set to 275.00 W from 300.00 W.\n"
SAME = "Power limit for GPU 00000000:5E:00.0 was set to 275.00 W from 275.00 W.\n"
DONE, EARLY = "All done.\n", "Terminating early due to previous errors.\n"
CARD = "00000000:5E:00.0"
OFF = (
    f"Warning: persistence mode is disabled on device {CARD}. See the Known Issues section of the nvidia-smi(1) man"
    " page for more information. Run with [--help | -h] switch to get more information on how to enable"
    " persistence mode.\n"
)
OFF_OLD = (
    "Warning: persistence mode is disabled on this device. This settings will go back to default as soon as driver"
    " unloads (e.g. last application like nvidia-smi or cuda application terminates). Run with [--help | -h] switch to"
    " get more information on how to enable persistence mode.\n"
)
RANGE = "Provided power limit 275.00 W is not a valid power limit which should be between 300.00 W and 350.00 W"
NOT_SUPPORTED = "Changing power management limit is not supported"
MOVING_ON = "Treating as warning and moving on.\n"
ANSWERS: dict[str, tuple[str, list[bool], list[tuple[str, str]]]] = {
    "all set": (SET + DONE, [True], []),
    "some already": (SET + SAME + DONE, [True, False], []),
    "not supported": (
        f"{NOT_SUPPORTED} for GPU: {CARD}.\n{MOVING_ON}{DONE}",
        [],
        [("gpu.power_limit_unsupported", f"gpu:{CARD}")],
    ),
    "not in this scope": (
        f"{NOT_SUPPORTED} in current scope for GPU: {CARD}\n{MOVING_ON}{DONE}",
        [],
        [("gpu.power_limit_unsupported", f"gpu:{CARD}")],
    ),
    "one set, one not supported": (
        f"{SET}{NOT_SUPPORTED} for GPU: {CARD}.\n{MOVING_ON}{DONE}",
        [True],
        [("gpu.power_limit_unsupported", f"gpu:{CARD}")],
    ),
    "below the minimum": (f"{RANGE} for GPU {CARD}\n{EARLY}", [], [("gpu.power_limit_refused", f"gpu:{CARD}")]),
    "partly refused": (f"{SET}{RANGE} for GPU {CARD}\n{EARLY}", [True], [("gpu.power_limit_refused", f"gpu:{CARD}")]),
    "unknown error": (
        f"{SET}Failed to set power management limit for GPU {CARD}: Unknown Error\n{EARLY}",
        [True],
        [("gpu.power_limit_refused", f"gpu:{CARD}")],
    ),
    "lost on the way": (
        f"{SET}Failed to set power management limit for GPU {CARD}: GPU is lost\n{EARLY}",
        [True],
        [("gpu.lost", f"gpu:{CARD}")],
    ),
    "no permission": (
        f"Failed to set power management limit for GPU {CARD}: Insufficient Permissions\n{EARLY}",
        [],
        [("gpu.permission_denied", f"gpu:{CARD}")],
    ),
    "no permission, no card": (
        "Failed to set power management limit: Insufficient Permissions\n",
        [],
        [("gpu.permission_denied", "gpu:unknown")],
    ),
    "set without persistence": (SET + "\n" + OFF + DONE, [True], [("gpu.persistence_off", f"gpu:{CARD}")]),
    "set without persistence, 440": (SET + OFF_OLD + DONE, [True], [("gpu.persistence_off", "tool:nvidia-smi")]),
    "nothing but done": (DONE, [], [("gpu.setting_no_effect", "tool:nvidia-smi")]),
    "nothing but an early end": (EARLY, [], [("command.failed", "tool:nvidia-smi")]),
    "persistence": (
        f"Persistence mode is already Enabled for GPU {CARD}.\n"
        f"Enabled Legacy persistence mode for GPU 00000000:01:00.0.\n{DONE}",
        [False, True],
        [],
    ),
    "persistence refused": (
        f"Unable to set persistence mode for GPU {CARD}: Unknown Error\n{EARLY}",
        [],
        [("gpu.persistence_refused", f"gpu:{CARD}")],
    ),
}


@pytest.mark.parametrize("name", sorted(ANSWERS))
@pytest.mark.parametrize("rc", [None, 0])
def test_what_a_card_took_and_what_it_refused_is_told_card_by_card(name: str, rc: int | None) -> None:
    text, changed, expected = ANSWERS[name]
    seen = smi(text, rc)
    assert [one.as_dict()["changed"] for one in seen.records] == changed
    assert codes(seen) == expected


def test_a_warning_about_persistence_does_not_spoil_the_rows_below_it() -> None:
    for warning in ("Warning: persistence mode is disabled on device 0\n", OFF):
        seen = smi(warning + "index, uuid, power.limit [W]\n0, GPU-aa11, 275.00 W\n")
        assert record(seen, "gpu_card")["power_limit_watts"] == 275.0
        assert code_set(seen) == {"gpu.persistence_off"}


def test_a_mismatch_in_place_of_a_setting_keeps_its_own_code() -> None:
    seen = smi("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95\n", 18)
    assert code_set(seen) == {"gpu.driver_mismatch"}


_LINES = sorted(
    {line for text, _, _ in ANSWERS.values() for line in text.splitlines()} | set(report("1.2", NEWER).splitlines())
)


@given(st.lists(st.sampled_from(_LINES), max_size=12), st.sampled_from([None, 0, 2, 4, 15]))
def test_no_mix_of_power_lines_raises_or_gives_zero_watts(lines: list[str], rc: int | None) -> None:
    parsed = parse_nvidia_smi("\n".join(lines), rc)
    for one in parsed.records:
        data = one.as_dict()
        json.dumps(data, allow_nan=False)
        assert all(data.get(field) != 0 for field in FIELDS)
