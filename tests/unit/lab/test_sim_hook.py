"""The runtime hook hands out the cards that were asked for, and refuses like nvidia-container-cli."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest
from gpu_sim import control, hook, machine


def bundle_of(tmp_path: Path, devices: str | None) -> dict[str, object]:
    """A made-up OCI bundle; its container state."""
    bundle = tmp_path / "bundle"
    (bundle / "rootfs").mkdir(parents=True)
    env = ["PATH=/usr/bin"] + ([] if devices is None else [f"NVIDIA_VISIBLE_DEVICES={devices}"])
    config = {"root": {"path": "rootfs"}, "process": {"env": env}}
    (bundle / "config.json").write_text(json.dumps(config))
    return {"id": "c0ffee", "pid": os.getpid(), "bundle": str(bundle), "status": "creating"}


@pytest.fixture
def mounts(cards: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Roots that the hook would have mounted into."""
    done: list[Path] = []
    monkeypatch.setattr(hook, "mount_into", lambda root, pid: done.append(root))
    return done


@pytest.mark.parametrize(
    ("asked", "indexes"),
    [
        ("2", [2]),
        ("GPU-5e7a0003-c0de-4000-8000-000000000003,GPU-5e7a0001-c0de-4000-8000-000000000001", [3, 1]),
        ("0,0", [0]),
        ("all", [0, 1, 2, 3]),
        ("none", []),
        ("void", None),
        ("", None),
        (None, None),
    ],
)
def test_cards_for_a_request(cards: Path, asked: str | None, indexes: list[int] | None) -> None:
    granted = hook.granted_cards(asked, machine.load_machine().cards)
    assert (None if granted is None else [card.index for card in granted]) == indexes


@pytest.mark.parametrize("asked", ["9", "GPU-00000000-0000-4000-8000-000000000000", "0,7"])
def test_unknown_device_stops_the_start(
    mounts: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(bundle_of(tmp_path, asked))))
    assert hook.main(["prestart"]) == 1
    device = asked.rpartition(",")[2]
    assert capsys.readouterr().err.endswith(f"nvidia-container-cli: device error: {device}: unknown device\n")
    assert mounts == []


def test_container_gets_its_cards_and_the_command(mounts: list[Path], tmp_path: Path) -> None:
    hook.prepare(bundle_of(tmp_path, "GPU-5e7a0002-c0de-4000-8000-000000000002"))
    root = tmp_path / "bundle/rootfs"
    assert mounts == [root]
    visible = json.loads((root / "etc/gpu-sim-visible.json").read_text())
    assert visible["devices"] == ["GPU-5e7a0002-c0de-4000-8000-000000000002"]
    assert (root / "usr/bin/nvidia-smi").readlink() == Path("/usr/lib/gpu-sim/nvidia-smi")


def test_container_sees_only_its_cards_numbered_from_zero(cards: Path) -> None:
    machine.VISIBLE_FILE.write_text(json.dumps({"devices": ["GPU-5e7a0003-c0de-4000-8000-000000000003"]}))
    seen = machine.visible_cards(machine.load_machine())
    assert [(card.index, card.uuid[-1]) for card in seen] == [(0, "3")]


def test_container_without_a_request_is_left_alone(mounts: list[Path], tmp_path: Path) -> None:
    assert hook.prepare(bundle_of(tmp_path, None)) is None
    assert list((tmp_path / "bundle/rootfs").iterdir()) == [] and mounts == []


def test_failing_driver_stops_the_start_too(mounts: list[Path], tmp_path: Path) -> None:
    control.switch_on("nvml-mismatch", None)
    with pytest.raises(hook.HookError, match="initialization error: nvml error: driver/library version mismatch"):
        hook.prepare(bundle_of(tmp_path, "all"))


def test_names_for_faults_come_from_dockers_own_record(tmp_path: Path) -> None:
    (tmp_path / "c0ffee").mkdir()
    record = {"Name": "/vllm-gen", "Config": {"Labels": {"com.docker.compose.service": "gen"}}}
    (tmp_path / "c0ffee/config.v2.json").write_text(json.dumps(record))
    assert hook.container_names("c0ffee", tmp_path) == ["gen", "vllm-gen"]
    assert hook.container_names("unknown", tmp_path) == []
