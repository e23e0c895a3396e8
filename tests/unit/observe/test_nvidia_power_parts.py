"""Watts that are no watts, answers in words that nobody knows, and reports of which somebody kept a part.

Protects: what NVML gives for "no value" is never a draw or a limit, a refusal in other words is not passed over in
silence, and a card's error is told also where its columns have no names.
"""

from __future__ import annotations

import pytest
from captured import code_set, codes, read, record

from gpu_seats.observe.records import Observation

PART = """\
    GPU Power Readings
        Average Power Draw                : 13.48 W
        Instantaneous Power Draw          : 13.45 W
        Current Power Limit               : 275.00 W
        Requested Power Limit             : 275.00 W
        Default Power Limit               : 300.00 W
        Min Power Limit                   : 250.00 W
        Max Power Limit                   : 325.00 W
    Module Power Readings
        Current Power Limit               : 1000.00 W
"""


def smi(text: str) -> Observation:
    return read("nvidia-smi", text)


@pytest.mark.parametrize("printed", ["0.00 W", "0", "-1.00 W", "4294967.29 W", "99999999999 W"])
def test_a_number_that_stands_for_no_value_is_none_with_what_was_printed(printed: str) -> None:
    seen = smi(f"index, power.draw [W], power.limit [W]\n0, {printed}, {printed}\n1, 30.00 W, 275.00 W\n")
    first, second = record(seen, "gpu_card"), record(seen, "gpu_card", 1)
    for name in ("power_draw_watts", "power_limit_watts"):
        assert (first[name], first["unknown"][name]) == (None, f"printed as {printed}")
    assert (second["power_draw_watts"], second["power_limit_watts"]) == (30.0, 275.0)
    assert codes(seen) == [("gpu.power_limit_unsupported", "gpu:0"), ("gpu.value_unknown", "gpu:0")]


@pytest.mark.parametrize("printed", ["1.2 kW", "nan W", "inf W", "plenty"])
def test_a_text_that_is_no_power_is_told(printed: str) -> None:
    seen = smi(f"index, power.draw [W]\n0, {printed}\n")
    assert record(seen, "gpu_card")["unknown"]["power_draw_watts"] == f"not understood: {printed}"
    assert code_set(seen) == {"gpu.value_unknown"}


def test_a_report_with_a_limit_of_zero_has_no_limit() -> None:
    text = PART.replace("275.00 W", "0.00 W")
    card = record(smi("GPU 00000000:01:00.0\n" + text), "gpu_card")
    assert (card["enforced_power_limit_watts"], card["power_limit_watts"]) == (None, None)
    assert card["max_power_limit_watts"] == 325.0


@pytest.mark.parametrize("flat", [False, True])
def test_a_part_of_a_report_gives_its_cards_without_their_names(flat: bool) -> None:
    text = PART + "--\n" + PART.replace("275.00", "300.00")
    if flat:
        text = "\n".join(line.strip() for line in text.splitlines())
    seen = smi(text)
    cards = [record(seen, "gpu_card"), record(seen, "gpu_card", 1)]
    assert [card["enforced_power_limit_watts"] for card in cards] == [275.0, 300.0]
    assert [card["power_draw_watts"] for card in cards] == [13.48, 13.48]
    assert [card["other"]["Module Power Readings/Current Power Limit"] for card in cards] == ["1000.00 W"] * 2
    count = record(seen, "gpu_inventory")
    assert (count["card_count"], count["unknown"]["card_count"]) == (
        None,
        "a part of a report, without the names of its cards",
    )


def test_a_text_report_of_fewer_cards_than_are_attached_says_so() -> None:
    seen = smi(f"==============NVSMI LOG==============\nAttached GPUs : 2\nGPU 00000000:01:00.0\n{PART}")
    assert code_set(seen) == {"gpu.not_listed"}
    assert record(seen, "gpu_inventory")["card_count"] == 2


@pytest.mark.parametrize(
    ("printed", "code"),
    [
        ("[GPU requires reset]", "gpu.reset_required"),
        ("[GPU is lost]", "gpu.lost"),
        ("[Unknown Error]", "gpu.handle_error"),
    ],
)
@pytest.mark.parametrize("separator", [", ", ","])
def test_an_error_in_a_column_without_a_name_is_told(printed: str, code: str, separator: str) -> None:
    seen = smi(separator.join(("1", printed, printed)) + "\n")
    assert codes(seen) == [("parse.columns_unknown", "tool:nvidia-smi"), (code, "gpu:1")]
    assert record(seen, "gpu_card")["power_draw_watts"] is None


CARD = "00000000:5E:00.0"
SET = "Power limit for GPU 00000000:3B:00.0 was set to 275.00 W from 300.00 W.\n"
DONE = "All done.\n"
UNKNOWN_ANSWERS = {
    "persistence in the words of a cap": (
        f"Changing persistence mode is not supported for GPU: {CARD}.\nTreating as warning and moving on.\n{DONE}",
        [("gpu.persistence_refused", f"gpu:{CARD}")],
    ),
    "a MIG device": (
        f"Setting power limit is not supported for MIG device\n{DONE}",
        [("gpu.power_limit_unsupported", "gpu:unknown")],
    ),
    "a card that needs a reset": (
        f"Failed to set power management limit for GPU {CARD}: GPU requires reset\n",
        [("gpu.reset_required", f"gpu:{CARD}")],
    ),
    "nothing known but done": (
        f"Power limit for module {CARD} was set.\n{DONE}",
        [("parse.unrecognised", "tool:nvidia-smi")],
    ),
    "one set, one refused in other words": (
        f"{SET}The power scope of GPU {CARD} could not be found.\n{DONE}",
        [("parse.unrecognised", "tool:nvidia-smi")],
    ),
    "one set, and a remark": (f"{SET}GPU {CARD} has two scopes of power.\n{DONE}", []),
    "a reset": (f"GPU {CARD} was successfully reset.\n{DONE}", []),
}


@pytest.mark.parametrize("name", sorted(UNKNOWN_ANSWERS))
def test_an_answer_in_other_words_is_no_success(name: str) -> None:
    text, expected = UNKNOWN_ANSWERS[name]
    assert codes(smi(text)) == expected


@pytest.mark.parametrize("header", ["#gpu, pwr, gtemp", "# gpu,pwr,gtemp"])
def test_the_monitor_as_csv(header: str) -> None:
    seen = smi(f"{header}\n#Idx, W, C\n0, 17, 40\n1, -, 41\n")
    assert [one.as_dict()["values"]["pwr"] for one in seen.records] == ["17", None]
