"""The last column of the table: what a seat does, or which step it failed."""

from typing import Any

from gpu_seats.findings import Finding
from gpu_seats.report.verdict import claim_text, duration_text, ready_text, verdict_text


def card(name: str, **claims: Any) -> dict[str, Any]:
    return {
        "card": name,
        "total_mib": 97887.0,
        "after": [{"workload": seat, "mib": mib} for seat, mib in claims.items()],
    }


def test_a_ready_seat_reads_as_documented() -> None:
    claim = claim_text([card("1", other=1000.0), card("2", flash=95232.0)], "flash")
    assert ready_text("qwen3.8-flash-next", 143.2, claim) == (
        "answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed"
    )


def test_a_service_runs_and_claims_nothing() -> None:
    assert claim_text([card("2", flash=95232.0)], "dockge") == ""
    assert ready_text(None, 1.4) == "runs after 1 s"


def test_an_unknown_claim_is_not_a_claim_of_nothing() -> None:
    assert claim_text([card("2", flash=None)], "flash") == ""


def test_a_seat_on_several_cards_says_so() -> None:
    assert claim_text([card("0", big=1024.0), card("1", big=1024.0)], "big") == (
        "1.0 of 95.6 GiB claimed on each of 2 cards"
    )


def look(**changes: Any) -> dict[str, Any]:
    base = {"seat": "flash", "served_name": "qwen3.8-flash-next", "state": "ready", "awaited": "", "source": "",
            "elapsed_s": 143.2, "steps": [], "findings": []}  # fmt: skip
    return {**base, **changes}


def test_the_verdict_of_a_ready_look() -> None:
    text = verdict_text(look(), waited_s=140, cards=[card("2", flash=95232.0)])
    assert text == "answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed"


def test_a_seat_that_ran_before_is_not_said_to_have_loaded_for_days() -> None:
    said = verdict_text(look(elapsed_s=4 * 86400 + 7300), 1, started=False)
    assert said == "answers as qwen3.8-flash-next, up 4 d 2 h"


def test_a_failed_look_names_the_step_and_the_worst_finding() -> None:
    steps = [{"step": "container", "status": "ok"}, {"step": "port", "status": "failed"}]
    found = [Finding("a.note", "warning", "seat:x", ""), Finding("port.unpublished", "error", "seat:x", "")]
    failed = look(state="failed", elapsed_s=12, steps=steps, findings=[one.as_dict() for one in found])
    assert verdict_text(failed, 12) == "failed after 12 s: its port is not reachable (port.unpublished)"


def test_a_cause_that_the_log_gave_while_a_step_still_waited() -> None:
    steps = [{"step": "health", "status": "waiting"}]
    cause = Finding("engine.out_of_memory", "error", "seat:flash", "CUDA out of memory")
    failed = look(state="failed", elapsed_s=12, steps=steps, source="engine log", awaited=cause.message)
    failed["findings"] = [cause.as_dict()]
    assert verdict_text(failed, 12) == "failed after 12 s: CUDA out of memory (engine.out_of_memory)"


def test_a_seat_whose_time_ran_out_says_what_it_was_doing() -> None:
    text = verdict_text(look(state="loading", awaited="loading weights 5/9", elapsed_s=900), 890)
    assert text == "not ready after 900 s, still loading weights 5/9"


def test_durations_are_rounded_down_to_two_units() -> None:
    assert [duration_text(s) for s in (40.9, 60, 750, 3600, 7500, 90000)] == [
        "40 s", "1 min", "12 min", "1 h", "2 h 5 min", "1 d 1 h"
    ]  # fmt: skip
