"""The last column of the table: what a seat does, or which step it failed."""

from typing import Any

from gpu_seats.findings import Finding
from gpu_seats.report.verdict import claim_text, not_ready_text, ready_text


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


def test_a_failed_step_names_the_worst_finding() -> None:
    found = [Finding("a.note", "warning", "seat:x", ""), Finding("port.unpublished", "error", "seat:x", "")]
    assert not_ready_text("port", 12, found) == "not ready after 12 s: its port is not reachable (port.unpublished)"
    assert not_ready_text("health", 12) == "not ready after 12 s: its health endpoint does not answer"
