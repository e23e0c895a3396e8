"""Names of what playbooks/power.yml leaves on a host, and the limits that it is to leave."""

from __future__ import annotations

from .lab_host import CARDS, LabHost

CAPPED = dict.fromkeys(CARDS, "275.00")
STOCK = dict.fromkeys(CARDS, "300.00")
TOOL = "/usr/local/lib/gpu-seats/gpu-seats-host.pyz"
CAPS_UNIT = "gpu-seats-power-caps.service"
WATCH = "gpu-seats-power-watch.service"
TIMER = "gpu-seats-power-watch.timer"
METRICS = "/var/lib/prometheus/node-exporter/gpu_seats_power.prom"


def look_now(lab: LabHost) -> None:
    """The look that the timer starts every minute; systemd refuses one that is started by hand too often."""
    lab.sh(f"systemctl reset-failed {WATCH}; systemctl start {WATCH}")
