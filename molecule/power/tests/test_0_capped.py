"""What stands after the run, looked at with the host's own tools and never with the project's modules."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from outside.caps import CAPS_UNIT, METRICS, TIMER, TOOL, look_now
from outside.lab_host import CARDS
from outside.plays import CARDS_ONLY, PROJECT, Run, flat, power


@pytest.fixture(scope="module")
def second(lab, power_untouched) -> Run:
    """A run on a host where everything stands."""
    with power_untouched():
        return power()


@pytest.mark.parametrize("card", CARDS)
def test_the_card_enforces_its_cap(lab, card):
    assert lab.limit(card) == "275.00"


def test_the_cards_keep_their_settings_while_nobody_uses_them(lab):
    """Protects: without persistence a limit goes with the last program on the card; by the daemon, not the old mode."""
    assert lab.sh("nvidia-smi --query-gpu=persistence_mode --format=csv,noheader").split() == ["Enabled"] * 4
    assert lab.unit("nvidia-persistenced.service", "ActiveState", "UnitFileState") == {
        "ActiveState": "active",
        "UnitFileState": "enabled",
    }


def test_the_units_are_enabled_and_the_timer_waits_for_its_minute(lab):
    assert lab.unit(CAPS_UNIT, "UnitFileState") == {"UnitFileState": "enabled"}
    assert lab.unit(TIMER, "UnitFileState", "ActiveState", "SubState") == {
        "UnitFileState": "enabled",
        "ActiveState": "active",
        "SubState": "waiting",
    }
    assert lab.sh("systemctl --failed --no-legend --plain") == ""


def test_systemd_finds_nothing_wrong_with_the_units(lab):
    said = lab.sh("systemd-analyze verify --man=no /etc/systemd/system/gpu-seats-power-*.* 2>&1; true")
    assert "gpu-seats" not in said


def test_files_are_roots_to_write_and_everyones_to_read(lab):
    modes = lab.sh(f"stat -c '%a %U:%G' {TOOL} /etc/gpu-seats/power-caps.json /etc/systemd/system/gpu-seats-power-*")
    assert modes.splitlines() == ["755 root:root"] + ["644 root:root"] * 4


def test_caps_are_declared_to_the_host_by_uuid_with_their_reason(lab):
    caps = json.loads(lab.sh("cat /etc/gpu-seats/power-caps.json"))["caps"]
    assert {one["card"]: (one["uuid"], one["limit_watts"], one["ceiling_watts"]) for one in caps} == {
        card: (uuid, 275.0, 300.0) for card, uuid in CARDS.items()
    }
    assert all("100 W of margin on the circuit" in one["reason"] for one in caps)


def test_every_minutes_look_writes_metrics(lab):
    look_now(lab)
    text = lab.sh(f"cat {METRICS}")
    assert lab.sh(f"stat -c '%a %U' {METRICS}") == "644 root"
    for card, uuid in CARDS.items():
        labels = f'{{host="fv-ml1",card="{card}",uuid="{uuid}"}}'
        assert f"gpu_seats_gpu_power_cap_watts{labels} 275.0" in text
        assert f"gpu_seats_gpu_power_limit_watts{labels} 275.0" in text
        assert f"gpu_seats_power_cap_held{labels} 1" in text
    assert "gpu_seats_finding{" not in text


def test_a_second_run_changes_nothing(second: Run):
    """Protects: idempotence on the host itself: same inodes, same units, and no reload of systemd."""
    assert (second.rc, second.changed) == (0, 0), second.out
    assert "Reload systemd" not in second.out
    for card in CARDS:
        cap, limit, draw, verdict = second.card(card)
        assert (cap, limit, verdict) == ("275 W", "275 W", "holds") and 3 < float(draw.split()[0]) < 80


def test_the_tree_has_the_figures_of_the_hosts_page(second: Run):
    """Protects: 4 x 275 W and 400 W are 1500 W; with the router 1625 W, 85 % of 1920 W, 295 W left."""
    second.says(
        "fv-20a breaker, 20 A x 120 V = 2400 W, for hours 80 % = 1920 W",
        "worst case 1625 W, 85 % of 1920 W, 295 W left: ok",
        "fv-ml1 1500 W, derived",
        "1100 W 4 cards, 4 x 275 W, derived",
        "400 W machine under load, derived",
        "fv-edge 125 W, estimate",
        "First to give: fv-20a",
    )
    shared = second.finding("power.correlated_recovery", "site:fv/circuit:fv-20a")
    assert "router fv-edge and the BMC of fv-ml1" in shared.message and "fv-ups feeds fv-edge" in shared.remedy


def test_the_bmcs_watts_stand_beside_the_worst_case(lab, second: Run):
    """Protects: what is measured and what is counted are told apart; ipmitool itself gives the same reading."""
    password = "/etc/gpu-seats-lab/bmc-password"
    login = f"-I lanplus -H 10.251.250.50 -U gpu-seats-lab -f {password}"
    reading = lab.sh(f"ipmitool {login} dcmi power reading | grep Instantaneous")
    watts = int(reading.split(":")[1].split()[0])
    assert 300 < watts < 420
    second.says(f"the whole machine draws {watts} W by its BMC (DCMI), 1,500 W is its worst case")


def test_the_picture_of_the_site_is_written(second: Run):
    """Protects: a picture somebody can open: well-formed, with devices, their figures and what was read just now."""
    for name in ("fv.html", "fv.svg"):
        file = PROJECT / "build" / "power" / name
        second.says(f"written: {file}")
        text = file.read_text(encoding="utf-8")
        shown = flat(html.unescape(re.sub("<[^>]*>", " ", text)))
        assert all(word in shown for word in ("fv-20a", "fv-ml1", "fv-edge", "1,625 of 1,920 W", "295 W left")), shown
        assert re.search(r"measured: cards \d+(\.\d)? W, BMC \d+ W", shown), shown
    assert ElementTree.parse(PROJECT / "build" / "power" / "fv.svg").getroot().tag.endswith("svg")


def test_check_mode_finds_nothing_to_change(power_untouched):
    with power_untouched():
        run = power("--check", "--diff", *CARDS_ONLY)
    assert (run.rc, run.changed) == (0, 0), run.out
    assert all(run.card(card)[3] == "holds" for card in CARDS)
