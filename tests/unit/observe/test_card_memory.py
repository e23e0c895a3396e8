"""Protects: a seat that loads while the host is looked at is not taken for memory that nobody can give back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.host.card_memory import LOOKS, MOVES, Look, settled_look
from gpu_seats.observe.nvidia.cards import GpuCard

CARD = "GPU-aa"


def look(used: float | None, *held: float | None) -> Look:
    rows: list[dict[str, Any]] = [{"gpu_uuid": CARD, "used_memory_mib": mib} for mib in held]
    return Look([GpuCard(uuid=CARD, memory_used_mib=used)], rows, None)


def settled(*looks: Look) -> tuple[Look, int]:
    """The look that was kept, and how many were taken; the last one is repeated."""
    taken: list[Look] = []

    def ask() -> Look:
        taken.append(looks[min(len(taken), len(looks) - 1)])
        return taken[-1]

    return settled_look(ask, lambda seconds: None), len(taken)


def memory_of(seen: Look) -> list[float | None]:
    return [one["used_memory_mib"] for one in seen.processes or ()]


def test_a_card_whose_processes_explain_its_memory_is_asked_once() -> None:
    assert settled(look(95_800, 95_232))[1] == 1
    assert settled(look(2))[1] == 1


def test_a_model_that_loads_between_the_two_answers_is_looked_at_again() -> None:
    """As seen in a run: 39,539 MiB free of 97,887, and 38,672 MiB with the process."""
    seen, looks = settled(look(57_708, 38_672), look(80_000, 71_000), look(95_232, 95_232))
    assert (memory_of(seen), looks) == ([95_232], 3)


def test_memory_that_no_listed_process_holds_is_believed_when_it_stays() -> None:
    """A holder in another process namespace: its memory is really gone, so the second equal look counts."""
    seen, looks = settled(look(40_000, 10_000))
    assert (memory_of(seen), looks) == ([10_000], 2)


def test_a_card_that_never_rests_has_processes_of_unknown_memory_with_the_reason() -> None:
    seen, looks = settled(*(look(10_000.0 * n, 1_000) for n in range(1, LOOKS + 1)))
    assert (memory_of(seen), looks) == ([None], LOOKS)
    assert (seen.processes or [{}])[0]["unknown"] == {"used_memory_mib": MOVES}


def test_a_figure_that_nvidia_smi_does_not_give_is_no_reason_to_look_again() -> None:
    assert settled(look(None, 500))[1] == 1
    assert settled(look(40_000, None))[1] == 1
    assert settled(Look([GpuCard(uuid=CARD, memory_used_mib=40_000.0)], None, None))[1] == 1


@given(st.lists(st.tuples(st.floats(0, 97_000), st.floats(0, 97_000)), min_size=1, max_size=10))
def test_what_is_kept_is_explained_steady_or_unknown(pairs: list[tuple[float, float]]) -> None:
    seen, looks = settled(*(look(used, held) for used, held in pairs))
    assert 1 <= looks <= LOOKS
    used, held = seen.cards[0].memory_used_mib or 0.0, memory_of(seen)[0]
    before = pairs[min(looks - 2, len(pairs) - 1)][0] if looks > 1 else None
    assert held is None or abs(used - held) <= 1024 or (before is not None and abs(used - before) <= 64)
