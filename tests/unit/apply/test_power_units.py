"""The unit files of the role gpu_power, as they come to a host.

Protects: systemd never ends a run that its own limits would end, which would leave no finding and no metric; Docker
waits for the caps and nothing waits for Docker; and what confines the units leaves them the cards.
"""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import jinja2
import pytest
import yaml

from gpu_seats.apply.gpu_limits import persistence
from gpu_seats.host_tool import alert_hooks
from gpu_seats.observe import command
from gpu_seats.observe.nvidia import card_query

ROLE = Path(__file__).resolve().parents[3] / "roles/gpu_power"
SERVICES = ("gpu-seats-power-caps.service", "gpu-seats-power-watch.service")
BOOT_WAIT_S = 60
MOST_CARDS = 8


class UnitFile(configparser.ConfigParser):
    """Names of settings as they are written."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit(name: str) -> UnitFile:
    loader = jinja2.FileSystemLoader(ROLE / "templates")
    environment = jinja2.Environment(loader=loader, trim_blocks=True, keep_trailing_newline=True)
    values = {
        "inventory_hostname": "box1",
        "__gpu_power_tool": "/tool.pyz",
        "__gpu_power_told": " --textfile /t --alert-hooks /h",
        "gpu_power_boot_wait_s": BOOT_WAIT_S,
    }
    parsed = UnitFile(interpolation=None)
    parsed.read_string(environment.get_template(f"{name}.j2").render(values))
    return parsed


def longest_run_s() -> float:
    """Every command at its limit: two looks with every card asked alone, persistence, limits, another run's lock."""
    ended = 2 * command._KILL_GRACE_S
    look = (1 + MOST_CARDS) * (card_query.LIMIT_S + ended)
    each = 2 * MOST_CARDS * (persistence.SET_LIMIT_S + ended)
    return 2 * look + each + persistence._SYSTEMCTL_LIMIT_S + 60


@pytest.mark.parametrize("name", SERVICES)
def test_systemd_waits_longer_than_the_run_can_take(name: str) -> None:
    service = unit(name)["Service"]
    waits = BOOT_WAIT_S if "--wait-s" in service["ExecStart"] else 3 * alert_hooks.LIMIT_S
    assert float(service["TimeoutStartSec"]) > longest_run_s() + waits


def test_docker_waits_for_the_caps_and_the_caps_for_the_driver_alone() -> None:
    caps = unit("gpu-seats-power-caps.service")
    assert caps["Unit"]["Before"] == "docker.service" and caps["Install"]["WantedBy"] == "multi-user.target"
    assert caps["Unit"]["After"].split() == ["nvidia-persistenced.service", "systemd-modules-load.service"]
    assert set(caps["Unit"]) == {"Description", "Documentation", "After", "Before"}
    assert "docker" not in str(dict(unit("gpu-seats-power-watch.service")["Unit"]))


@pytest.mark.parametrize("name", SERVICES)
def test_units_are_confined_and_keep_the_cards(name: str) -> None:
    service = unit(name)["Service"]
    assert {"NoNewPrivileges", "ProtectSystem"} <= set(service)
    # each of these closes /dev/nvidia*, keeps the driver from being loaded, or takes /var from the state
    closing = {"PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectClock", "ProtectKernelModules", "RootDirectory"}
    assert not closing & set(service) and service["ProtectSystem"] == "full"


def test_every_unit_that_the_role_writes_is_one_of_these() -> None:
    variables = yaml.safe_load((ROLE / "vars/main.yml").read_text(encoding="utf-8"))
    written = [Path(one["path"]).name for one in variables["__gpu_power_files"]]
    assert {one for one in written if re.search(r"\.(service|timer)$", one)} == {
        *SERVICES,
        "gpu-seats-power-watch.timer",
    }
