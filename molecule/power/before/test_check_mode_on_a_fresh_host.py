"""Check mode before anything of the caps was ever installed."""

from __future__ import annotations

from outside.caps import STOCK, TOOL
from outside.lab_host import CARDS
from outside.plays import power

FILES = (
    TOOL,
    "/etc/gpu-seats/power-caps.json",
    "/etc/systemd/system/gpu-seats-power-caps.service",
    "/etc/systemd/system/gpu-seats-power-watch.service",
    "/etc/systemd/system/gpu-seats-power-watch.timer",
)


def test_check_mode_tells_what_would_be_set_and_touches_nothing(lab, power_untouched, tmp_path):
    """Protects: `--check --diff` is true where no unit, no file and no directory of it is there yet."""
    assert lab.limits() == STOCK
    with power_untouched():
        run = power("--check", "--diff", "-e", f"picture={tmp_path}")
    assert run.rc == 0, run.out
    for file in FILES:
        run.says(f"+++ after: {file}")
        assert lab.sh(f"ls {file}", ok=False) == ""
    for card, uuid in CARDS.items():
        run.says(f"-card {card} {uuid}: 300 W", f"+card {card} {uuid}: 275 W")
        assert run.card(card) == ("275 W", "300 W", "3.8 W", "would be set")
    assert list(tmp_path.iterdir()) == []
