"""Protects: the look that judges a power run sees cards, units and containers, and a broken one hides no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_systemd import FakeSystemd
from simulated_cards import UUIDS, Cards

from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.engine_api import EngineUnreachableError
from gpu_seats.verify.power_look import power_look

CAPS = "gpu-seats-power-caps.service"


class OneContainer:
    """Docker with one running container that was given card 2; output: what nvidia-smi says inside it."""

    def __init__(self, output: str, rc: int = 0) -> None:
        self.answer = (rc, output)

    def containers(self) -> list[dict[str, Any]]:
        return [{"Id": "a" * 64, "State": "running"}]

    def inspect(self, container: str) -> dict[str, Any]:
        request = {"Driver": "nvidia", "Count": 0, "DeviceIDs": [UUIDS[2]], "Capabilities": [["gpu"]]}
        state = {"Status": "running", "Running": True, "StartedAt": "2026-01-01T00:00:00Z"}
        return {"Id": "a" * 64, "Name": "/chat", "State": state, "HostConfig": {"DeviceRequests": [request]}}

    def execute(self, container: str, command: list[str], limit_s: float = 15.0) -> tuple[int, str]:
        return self.answer

    def restart(self, container: str, grace_s: int = 30) -> None:
        raise AssertionError("a look restarts nothing")


class NoDocker(OneContainer):
    def containers(self) -> list[dict[str, Any]]:
        raise EngineUnreachableError("no_socket", "is not there")


@pytest.fixture
def host(tmp_path: Path) -> tuple[Cards, Any]:
    """Four cards and a systemd that has the caps unit, enabled."""
    cards = Cards(tmp_path / "cards", as_process=True)
    directory = tmp_path / "system"
    directory.mkdir()
    (directory / CAPS).write_text("[Service]\n")
    systemd = FakeSystemd(directory, enabled={CAPS})

    def run(argv: Sequence[str], limit_s: float) -> CommandResult:
        return systemd.run(argv, limit_s) if argv[0] == "systemctl" else cards.run(argv, limit_s)

    return cards, run


SEES = f"GPU 0: NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition (UUID: {UUIDS[2]})\n"


def test_cards_units_and_containers_of_a_host_that_is_fine(host) -> None:
    _, run = host
    look = power_look(run, OneContainer(SEES), list(UUIDS), [CAPS])
    assert [(one["uuid"], one["enforced_power_limit_watts"]) for one in look["cards"]] == [
        (one, 300.0) for one in UUIDS
    ]
    assert look["card_count"] == 4 and look["units"][CAPS]["enabled"] == "enabled"
    assert [one["state"] for one in look["containers"]] == ["ok"] and look["findings"] == []


def test_a_container_without_its_card_is_told_and_left_as_it_is(host) -> None:
    _, run = host
    look = power_look(run, OneContainer("Failed to initialize NVML: Unknown Error\n", 255), list(UUIDS), [CAPS])
    assert [one["code"] for one in look["findings"]] == ["gpu.container_lost_device"]
    assert len(look["cards"]) == 4


def test_a_lost_card_and_a_missing_unit_hide_nothing(host) -> None:
    cards, run = host
    cards.fault("gpu-lost", 1)
    look = power_look(run, NoDocker(""), list(UUIDS), [CAPS, "gone.timer"])
    assert [one["uuid"] for one in look["cards"]] == [UUIDS[0], UUIDS[2], UUIDS[3]] and look["card_count"] is None
    assert look["units"]["gone.timer"]["load"] == "not-found" and look["units"][CAPS]["load"] == "loaded"
    assert look["containers"] == []
