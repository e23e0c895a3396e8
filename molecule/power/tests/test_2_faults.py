"""Cards, drivers and BMCs that fail: each failure ends as its finding, and what it spares is capped all the same.

One run shows several: a failure is of one card, so three cards and the BMC can fail at once while the last is whole.
Failures of the driver leave no card whole; most of those are shown by the minute's look, which runs the same code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from outside.caps import CAPPED, TIMER, TOOL, WATCH
from outside.lab_host import CARDS
from outside.plays import CARDS_ONLY, Run, power

Runs = Callable[[str], Run]


@dataclass(frozen=True)
class Failures:
    """What is switched on for one run. cards: fault of gpu-sim by card. whole: cards that are capped all the same."""

    cards: dict[str, str]
    bmc: str
    whole: str = "3"


TOGETHER = {
    "limits that cannot be set": Failures(
        {"0": "pl-ignored", "1": "pl-unsupported", "2": "pl-unsupported-scope"}, "dcmi-unsupported"
    ),
    "refused and lost": Failures({"0": "pl-permission", "1": "pl-partly", "2": "gpu-lost"}, "deactivated"),
    "values in brackets": Failures({"0": "na-values", "1": "deprecated-values", "2": "err-values"}, "zero", "23"),
    "modes": Failures({"0": "mig-enabled", "1": "enforced-differs", "2": "persistence-refused"}, "busy 1", "023"),
}


@dataclass(frozen=True)
class Told:
    """How a failure of one card must end. limit: what the card's row shows. errors: all codes that fail the run."""

    run: str
    card: str
    limit: str
    errors: set[str]
    severity: str
    code: str
    message: str


CARD_FAULTS = {
    "pl-ignored": Told(
        "limits that cannot be set", "0", "300 W", {"power.cap_not_held"}, "error", "power.cap_not_held",
        "the limit reads 300 W after 275 W was set",
    ),
    "pl-unsupported": Told(
        "limits that cannot be set", "1", "300 W", {"gpu.power_limit_unsupported", "power.cap_lost"}, "error",
        "gpu.power_limit_unsupported", "whatever exit code nvidia-smi ends with",
    ),
    "pl-unsupported-scope": Told(
        "limits that cannot be set", "2", "300 W", {"gpu.power_limit_unsupported", "power.cap_lost"}, "error",
        "gpu.power_limit_unsupported", "not supported in current scope",
    ),
    "pl-permission": Told(
        "refused and lost", "0", "300 W", {"gpu.permission_denied", "power.cap_lost"}, "error", "gpu.permission_denied",
        "Insufficient Permissions",
    ),
    "pl-partly": Told(
        "refused and lost", "1", "300 W", {"gpu.power_limit_refused", "power.cap_lost"}, "error",
        "gpu.power_limit_refused", "Unknown Error",
    ),
    "gpu-lost": Told(
        "refused and lost", "2", "?", {"gpu.lost", "power.card_not_capped"}, "critical", "gpu.lost", "GPU is lost",
    ),
    "na-values": Told(
        "values in brackets", "0", "?", {"power.cap_unreadable"}, "error", "power.cap_unreadable", "([N/A])",
    ),
    "deprecated-values": Told(
        "values in brackets", "1", "?", {"power.cap_unreadable"}, "error", "power.cap_unreadable",
        "([Requested functionality has been deprecated])",
    ),
    "err-values": Told(
        "values in brackets", "2", "275 W", {"gpu.handle_error"}, "error", "gpu.handle_error", "[Unknown Error]",
    ),
    "mig-enabled": Told(
        "modes", "0", "275 W", set(), "warning", "gpu.mig_enabled", "MIG is on",
    ),
    "enforced-differs": Told(
        "modes", "1", "300 W", {"power.cap_not_held"}, "error", "power.cap_not_held",
        "the limit reads 300 W after 275 W was set",
    ),
    "persistence-refused": Told(
        "modes", "2", "275 W", set(), "warning", "gpu.persistence_refused", "Insufficient Permissions",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(lab) -> Runs:
    """The run with the failures of a name of TOGETHER on, made once; limits are at stock before it."""

    @cache
    def run(name: str) -> Run:
        failures = TOGETHER[name]
        on = [f"gpu-sim fault {fault} {card}" for card, fault in failures.cards.items()]
        lab.sh("; ".join(["gpu-sim reset-limits", "systemctl stop nvidia-persistenced", *on]))
        lab.sh(f"bmc-sim fault {failures.bmc}")
        try:
            done = power("-e", "picture=")
            limits = lab.limits()
        finally:
            lab.clear_faults()
        assert all(limits[card] == "275.00" for card in failures.whole), (limits, done.out)
        return done

    return run


@pytest.mark.parametrize("fault", CARD_FAULTS)
def test_a_failure_of_a_card_is_its_finding_and_the_others_are_capped(runs: Runs, fault: str):
    """Protects: no failure is taken for success, none hides the other cards, and no reading is made up."""
    told = CARD_FAULTS[fault]
    run = runs(told.run)
    subject = f"host:fv-ml1/gpu:{told.card}"
    shown = run.finding(told.code, subject)
    assert shown.severity == told.severity and told.message in shown.message and shown.remedy
    assert run.failing(subject) == told.errors, run.out
    cap, limit, _, verdict = run.card(told.card)
    assert (cap, limit) == ("275 W", told.limit)
    assert all(code in verdict for code in told.errors - {"power.cap_lost"})
    assert ("NOT held" in verdict) == (told.limit != "275 W")
    assert run.rc != 0


@pytest.mark.parametrize("name", TOGETHER)
def test_cards_that_are_whole_hold_their_cap_whatever_fails_beside_them(runs: Runs, name: str):
    run = runs(name)
    assert run.card("3")[:3] == ("275 W", "275 W", "3.8 W")
    assert run.card("3")[3] in ("set, was 300 W", "holds")  # the minute's look may have been there first
    assert run.failing("host:fv-ml1/gpu:3") == set()
    assert not [one for one in run.findings if one.code == "gpu.no_devices"]


def test_a_daemon_that_was_stopped_runs_again(lab, runs: Runs):
    """Protects: without nvidia-persistenced a limit goes with the last program on its card."""
    runs("modes")
    assert lab.sh("systemctl is-active nvidia-persistenced") == "active"


@pytest.mark.parametrize(
    ("name", "code", "source"),
    [
        ("limits that cannot be set", "bmc.power_unsupported", "a sensor"),
        ("refused and lost", "bmc.power_deactivated", "a sensor"),
        ("values in brackets", "bmc.reading_zero", "a sensor"),
        ("modes", "", "DCMI"),
    ],
)
def test_a_bmc_without_a_reading_by_dcmi_is_read_by_its_sensor(runs: Runs, name: str, code: str, source: str):
    """Protects: switched off, not built in, 0 W: no measurements; one that is busy for a moment is asked again."""
    run = runs(name)
    about = [one for one in run.findings if one.code.startswith("bmc.")]
    assert [(one.code, one.severity) for one in about] == ([(code, "info")] if code else []), run.out
    run.says(f"W by its BMC ({source})")
    assert "draws 0 W" not in run.words


def test_without_driver_and_bmc_every_card_is_told_and_nothing_is_made_up(lab):
    """Protects: a host that cannot be asked is no host without GPUs, and it counts with its worst case."""
    lab.sh("gpu-sim reset-limits; gpu-sim fault nvml-mismatch; bmc-sim fault silent")
    run = power("-e", "picture=")
    lab.clear_faults()
    assert run.rc != 0
    assert run.finding("gpu.driver_mismatch", "host:fv-ml1/tool:nvidia-smi").severity == "critical"
    for card in CARDS:
        assert run.failing(f"host:fv-ml1/gpu:{card}") == {"power.card_not_capped"}
        assert run.card(card) == ("275 W", "?", "?", "NOT held (power.card_not_capped)")
    assert run.finding("bmc.unreachable").severity == "warning"
    run.says("the whole machine can't be measured (the BMC does not answer", "1,600 W is its worst case")


def test_cards_that_are_not_as_declared_get_no_wrong_limit(lab, scratch):
    """Protects: a strange card gets no cap of another; the card's own range counts before the declared one."""
    scratch.declare_host(
        gpus={
            "0": {"power_limits": {"min": "200W"}},
            "1": {"uuid": "GPU-5e7affff-c0de-4000-8000-00000000ffff"},
            "2": {"power_limits": {"max": "400W"}},
        },
        power={
            "caps": {
                "cards": {"0": "225W", "2": "350W"},
                "ceiling": "400W",
                "above_stock": {"date": "2026-10-01", "reason": "A test of the limits"},
            }
        },
    )
    lab.sh("gpu-sim reset-limits; bmc-sim fault busy")
    run = power("-e", "picture=", project=scratch.root)
    limits = lab.limits()
    lab.clear_faults()
    assert run.rc != 0
    assert limits == {"0": "300.00", "1": "300.00", "2": "300.00", "3": "275.00"}
    low = run.finding("power.cap_below_min", "host:fv-ml1/gpu:0")
    assert "a cap of 225 W is below the 250 W that the card takes at least" in low.message
    strange = run.finding("gpu.identity_mismatch", "host:fv-ml1/gpu:1")
    assert CARDS["1"] in strange.message and "GPU-5e7affff" in strange.message
    assert "power.card_not_capped" in run.failing("host:fv-ml1/gpu:1")
    high = run.finding("gpu.power_limit_refused", "host:fv-ml1/gpu:2")
    assert "a cap of 350 W is above the 325 W that the card takes at most" in high.message
    assert run.finding("bmc.busy", "host:fv-ml1/bmc:power").severity == "info"
    run.says("W by its BMC (a sensor)")


def test_cards_that_swapped_their_index_change_nothing(lab, power_untouched):
    """Protects: caps are kept by UUID; and a refused BMC login is told, while it costs no card its cap."""
    healed = power(*CARDS_ONLY)
    assert (healed.rc, lab.limits()) == (0, CAPPED), healed.out
    lab.sh("gpu-sim fault index-swap 2; bmc-sim fault wrong-password")
    assert "GPU-5e7a0002" in lab.sh("nvidia-smi -L").splitlines()[0]
    with power_untouched():
        run = power("-e", "picture=")
    lab.clear_faults()
    assert run.changed == 0, run.out
    assert [run.card(card)[3] for card in CARDS] == ["holds"] * 4
    [failed] = [one for one in run.findings if one.severity in ("critical", "error")]
    assert (failed.code, failed.subject) == ("bmc.auth_failed", "host:fv-ml1/bmc:access")
    run.says("the whole machine can't be measured (the BMC refused the login")


# fault -> code, subject, the cards that are capped all the same
DRIVER_FAULTS = {
    "no-devices": ("gpu.no_devices", "tool:nvidia-smi", ""),
    "driver-down": ("gpu.driver_unreachable", "tool:nvidia-smi", ""),
    "nvml-mismatch-oneline": ("gpu.driver_mismatch", "tool:nvidia-smi", ""),
    "hang": ("command.hung", "tool:nvidia-smi", ""),
    "gpu-unknown-error 1": ("gpu.lost", "gpu:1", "023"),
    "invalid-field enforced.power.limit": ("gpu.query_field_unknown", "tool:nvidia-smi", "0123"),
    "driver-610": ("", "", "0123"),
}


@pytest.fixture(scope="module")
def no_timer(lab):
    """The timer's own looks would wait for the same lock."""
    lab.sh(f"systemctl stop {TIMER} {WATCH}")
    yield
    lab.sh(f"systemctl start {TIMER}")


@pytest.mark.parametrize("fault", DRIVER_FAULTS)
def test_a_failure_of_the_driver_is_its_finding(lab, no_timer, fault: str):
    """Protects: a driver that does not answer is told within its time limit; every card it cannot ask is named."""
    code, subject, capped = DRIVER_FAULTS[fault]
    lab.sh(f"gpu-sim reset-limits; gpu-sim fault {fault}")
    begun = time.monotonic()
    told = json.loads(lab.sh(f"python3 -I {TOOL} caps apply --json", ok=False))
    elapsed_s = time.monotonic() - begun
    lab.clear_faults()
    assert {card: limit for card, limit in lab.limits().items() if limit == "275.00"} == dict.fromkeys(capped, "275.00")
    found = {(one["code"], one["subject"]) for one in told["findings"]} - {
        ("power.cap_lost", f"gpu:{c}") for c in capped
    }
    left = [card for card in CARDS if card not in capped]
    expected = {(code, subject)} if code else set()
    if left:
        expected.add(("power.card_not_capped", f"gpu:{','.join(left)}"))
    assert found == expected
    assert told["held"] is (not left)
    assert all(row["after_watts"] is None for row in told["cards"] if row["card"] in left)
    assert elapsed_s < 25


def test_a_daemon_that_does_not_run_leaves_the_older_mode_and_says_so(lab, no_timer):
    lab.sh("systemctl stop nvidia-persistenced; gpu-sim reset-limits")
    told = json.loads(lab.sh(f"python3 -I {TOOL} caps apply --json", ok=False))
    lab.sh("systemctl start nvidia-persistenced")
    about = {one["subject"] for one in told["findings"] if one["code"] == "gpu.persistence_legacy"}
    assert about == {f"gpu:{card}" for card in CARDS}
    assert lab.limits() == CAPPED
