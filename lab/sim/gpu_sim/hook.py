"""Stand-in for NVIDIA's OCI prestart hook: gives a container its simulated cards.

dockerd offers its "nvidia" device driver when a program named nvidia-container-runtime-hook is on its PATH; runc then
runs that program before every start, with the container's state on stdin, in the host's mount namespace, before the
container's root is pivoted. Which cards are asked for stands in NVIDIA_VISIBLE_DEVICES of the bundle's config.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .faults import ToolError, active_faults, stop_if_tool_fails
from .machine import VISIBLE_FILE, Card, card_named, load_machine, make_claim_folders, state_dir

PROGRAMS = Path("/usr/lib/gpu-sim")
"""Where the simulator is installed, on the host and (bind-mounted) in containers."""

MODE = "Auto-detected mode as 'legacy'\n"
DOCKER_CONTAINERS = Path("/var/lib/docker/containers")


class HookError(Exception):
    """The container must not start; the text is what nvidia-container-cli says."""


def asked_devices(config: dict[str, Any]) -> str | None:
    """NVIDIA_VISIBLE_DEVICES of the bundle, None when it isn't set."""
    for entry in config.get("process", {}).get("env", []):
        name, _, value = entry.partition("=")
        if name == "NVIDIA_VISIBLE_DEVICES":
            return str(value)
    return None


def granted_cards(asked: str | None, cards: list[Card]) -> list[Card] | None:
    """The cards for this value: None = leave the container alone, [] = simulator without cards (`none`)."""
    if asked is None or asked in ("", "void"):
        return None
    if asked == "none":
        return []
    if asked == "all":
        return cards
    granted = []
    for device in asked.split(","):
        card = card_named(cards, device.strip())
        if card is None:
            raise HookError(f"{MODE}nvidia-container-cli: device error: {device.strip()}: unknown device")
        if card not in granted:
            granted.append(card)
    return granted


def refuse_if_driver_fails() -> None:
    """The real tool can't initialise either when the driver is down or doesn't match."""
    faults = active_faults()
    faults.pop("hang", None)
    try:
        stop_if_tool_fails(faults, load_machine())
    except ToolError as failure:
        word = {18: "driver/library version mismatch", 9: "driver not loaded", 6: "no devices found"}
        reason = word.get(failure.code, "unknown error")
        raise HookError(f"{MODE}nvidia-container-cli: initialization error: nvml error: {reason}") from None


def container_root(bundle: Path, config: dict[str, Any]) -> Path:
    return (bundle / config["root"]["path"]).resolve()


def container_names(identity: str, containers: Path = DOCKER_CONTAINERS) -> list[str]:
    """Names under which a fault of this container's engine may be filed: container name, Compose service, label values.

    A container can't see its own name; the host's Docker records it. Empty where there is no such record.
    """
    try:
        record = json.loads((containers / identity / "config.v2.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    labels = record.get("Config", {}).get("Labels") or {}
    keys = ("com.docker.compose.service", "gpu-seats.seat", "gpu_seats.seat")
    names = [record.get("Name", "").lstrip("/"), *(labels.get(key, "") for key in keys)]
    return sorted({name for name in names if name})


def place_files(root: Path, cards: list[Card], names: list[str]) -> None:
    """Files inside the container's root: which cards it sees, what it is called, and the nvidia-smi command."""
    visible = root / VISIBLE_FILE.relative_to("/")
    visible.parent.mkdir(parents=True, exist_ok=True)
    content = {"devices": [card.uuid for card in cards], "names": names}
    visible.write_text(json.dumps(content) + "\n", encoding="utf-8")
    command = root / "usr/bin/nvidia-smi"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.unlink(missing_ok=True)
    command.symlink_to(PROGRAMS / "nvidia-smi")


def bind_mounts(root: Path) -> list[list[str]]:
    """mount commands for the simulator (read-only) and its state (writable: engines put their claims there)."""
    programs, state = root / PROGRAMS.relative_to("/"), root / state_dir().relative_to("/")
    return [
        ["mount", "--bind", str(PROGRAMS), str(programs)],
        ["mount", "-o", "remount,bind,ro", str(programs)],
        ["mount", "--bind", str(state_dir()), str(state)],
    ]


def mount_into(root: Path, pid: int) -> None:
    """Bind-mount in the mount namespace of the container's first process, where the root isn't pivoted yet."""
    for folder in (root / PROGRAMS.relative_to("/"), root / state_dir().relative_to("/")):
        folder.mkdir(parents=True, exist_ok=True)
    for command in bind_mounts(root):
        subprocess.run(["nsenter", f"--mount=/proc/{pid}/ns/mnt", "--", *command], check=True, timeout=20)


def prepare(state: dict[str, Any]) -> list[Card] | None:
    """Do the hook's work for one container state; returns the cards that it was given."""
    bundle = Path(state["bundle"])
    config = json.loads((bundle / "config.json").read_text(encoding="utf-8"))
    machine = load_machine()
    asked = asked_devices(config)
    cards = granted_cards(asked, machine.cards)
    if cards is None:
        return None
    refuse_if_driver_fails()
    root = container_root(bundle, config)
    make_claim_folders(machine)
    place_files(root, cards, container_names(str(state.get("id", ""))))
    mount_into(root, int(state["pid"]))
    return cards


def main(arguments: list[str]) -> int:
    if arguments and arguments[-1] != "prestart":
        return 0  # poststart and poststop have nothing to do
    os.umask(0o022)
    try:
        prepare(json.load(sys.stdin))
    except HookError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0
