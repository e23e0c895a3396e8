"""The lab's simulated cards: its nvidia-smi as a command on a search path, and, faster, called where it stands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_seats.apply.gpu_limits.capping import apply_caps
from gpu_seats.apply.gpu_limits.caps import caps_from
from gpu_seats.apply.gpu_limits.result import CapsResult
from gpu_seats.observe.command import CommandResult, run

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT / "lab/sim"))

UUIDS = tuple(f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(4))
BUS_IDS = tuple(f"00000000:{bus}:00.0" for bus in ("01", "21", "41", "61"))

# limits may be set by root only, and these tests run as anybody
_COMMAND = """\
#!{python} -IS
import os, sys
sys.pycache_prefix = {compiled!r}
sys.path.insert(0, {simulator!r})
os.geteuid = lambda: 0
from gpu_sim.{module} import main
sys.exit(main(sys.argv[1:]))
"""


class Cards:
    """Four freshly booted cards with a state directory of their own. calls: what was run, in order.

    as_process: every nvidia-smi is a process of its own, as on a host; else its program runs inside the test.
    """

    def __init__(self, folder: Path, as_process: bool = False) -> None:
        self.folder = folder
        self.as_process = as_process
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        for name, module in (("nvidia-smi", "smi"), ("gpu-sim", "control")):
            text = _COMMAND.format(
                python=sys.executable,
                compiled=str(folder.parent / "compiled"),
                simulator=str(PROJECT / "lab/sim"),
                module=module,
            )
            (self.bin / name).write_text(text, encoding="utf-8")
            (self.bin / name).chmod(0o755)
        self.calls: list[str] = []
        self.daemon = "active"
        (folder / "state").mkdir()
        self._called(["gpu-sim", "boot"])

    @property
    def environment(self) -> dict[str, str]:
        return {"GPU_SIM_DIR": str(self.folder / "state"), "PATH": f"{self.bin}:{os.environ['PATH']}"}

    def run(self, argv: Sequence[str], limit_s: float) -> CommandResult:
        """`observe.command.run` on this host; there is no systemd here, so its word on the daemon is `daemon`."""
        self.calls.append(" ".join(argv))
        if argv[0] == "systemctl":
            load = "not-found" if self.daemon == "absent" else "loaded"
            state = "inactive" if self.daemon == "absent" else self.daemon
            return CommandResult(tuple(argv), 0, f"LoadState={load}\nActiveState={state}\n", "")
        if self.as_process or not (self.bin / argv[0]).exists():
            return run([str(self.bin / argv[0]), *argv[1:]], limit_s, self.environment)
        return self._called(argv)

    def _called(self, argv: Sequence[str]) -> CommandResult:
        from gpu_sim import control, smi

        printed = io.StringIO()
        parts = [one for name, one in sys.modules.items() if name.startswith("gpu_sim.")]
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
            patch.setenv("GPU_SIM_DIR", str(self.folder / "state"))
            patch.setattr(os, "geteuid", lambda: 0)
            for part in parts:
                if hasattr(part, "VISIBLE_FILE"):
                    patch.setattr(part, "VISIBLE_FILE", self.folder / "visible.json")
            rc = (control if argv[0] == "gpu-sim" else smi).main(list(argv[1:]))
        return CommandResult(tuple(argv), rc, printed.getvalue(), "")

    def fault(self, name: str, card: int | None = None) -> None:
        """Switches a fault on, for one card or for all."""
        value = {"card": None if card is None else UUIDS[card], "value": None}
        path = self.folder / "state/faults" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")

    @property
    def limits(self) -> list[float]:
        """The limits as the simulator keeps them: another witness than what nvidia-smi prints."""
        return [float(card["limit_w"]) for card in self._state()["cards"]]

    def change(self, card: int, **values: Any) -> None:
        """Another hand on a card: keys of the simulator's record."""
        state = self._state()
        state["cards"][card].update(values)
        (self.folder / "state/cards.json").write_text(json.dumps(state), encoding="utf-8")

    @property
    def settings(self) -> list[str]:
        """The calls that set something."""
        return [call for call in self.calls if " -pl " in call or " -pm " in call]

    def _state(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.folder / "state/cards.json").read_text(encoding="utf-8"))
        return data


def cap_data(card: int, limit_watts: float = 275, **more: Any) -> dict[str, Any]:
    """A cap of card 0 to 3 as the role hands it over."""
    return {
        "card": str(card),
        "uuid": UUIDS[card],
        "bus_id": BUS_IDS[card],
        "limit_watts": limit_watts,
        "ceiling_watts": 300,
        "min_watts": 250,
        "default_watts": 300,
        "max_watts": 325,
        "reason": "worst case of the breaker",
        **more,
    }


def persistent_cards(folder: Path) -> Cards:
    """A host whose driver keeps its cards (persistence mode is on)."""
    host = Cards(folder)
    for card in range(4):
        host.change(card, persistence=True)
    return host


def capped(cards: Cards, check: bool = False, way: str = "auto", **more: Any) -> CapsResult:
    """Caps for all four cards. more: on top of those of `cap_data`."""
    return apply_caps(cards.run, caps_from([cap_data(card, **more) for card in range(4)]), check, way)


def told(result: CapsResult) -> set[tuple[str, str]]:
    """Code and subject of what fails."""
    return {(one.code, one.subject) for one in result.findings if one.fails}


def codes(result: CapsResult) -> set[str]:
    return {one.code for one in result.findings}
