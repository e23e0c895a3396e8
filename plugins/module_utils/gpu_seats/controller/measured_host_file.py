"""The measured figures as a change of the host file: shown as a diff for a person to take over, never written."""

from __future__ import annotations

import difflib
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..declare.file_edit import Written, with_item, with_value
from ..declare.fleet import HOST_KEY, Fleet
from ..declare.host import Host
from ..declare.yaml_source import read_source
from ..plan.power.measurement import Measurement, Spread, SupplyReading


@dataclass(frozen=True)
class HostFileChange:
    """file: relative to the project. diff: empty where nothing was measured that belongs into it."""

    file: str
    before: str
    after: str

    @property
    def diff(self) -> str:
        return "".join(
            difflib.unified_diff(
                self.before.splitlines(keepends=True),
                self.after.splitlines(keepends=True),
                f"a/{self.file}",
                f"b/{self.file}",
            )
        )


def host_file_change(fleet: Fleet, measured: Measurement, supply: SupplyReading | None) -> HostFileChange:
    """The host file with what was measured.

    Nothing of one that was cut off; under_load only of one under full load; a reading of each; what the figures read
    where a clamp meter told. Raises ValueError if the result would not be the declaration that is meant: a fault of
    this program.
    """
    source = fleet.origins[f"host:{measured.host}"]
    text, power = source.text, (HOST_KEY, "power")
    declared = fleet.hosts[measured.host].power
    if declared is None or measured.top is None or not measured.is_complete or not measured.top.cards:
        return HostFileChange(source.file, text, text)
    if measured.is_whole and measured.top.machine is not None:
        text = with_value(text, (*power, "under_load"), _under_load(measured, measured.top.machine))
    if supply is not None and supply.reads != "unknown":
        day = measured.top.at[:10]
        told = f"{supply.words} ({day}): the BMC reads {supply.reads.upper()}"
        if declared.supply_loss is None:
            text = with_value(text, (*power, "supply_loss"), {"reads": Written(supply.reads), "reason": told})
        else:
            text = with_value(text, (*power, "supply_loss", "reads"), Written(supply.reads))
            text = with_value(text, (*power, "supply_loss", "reason"), told)
    text = with_item(text, (*power, "readings"), _reading(measured))
    _prove(text, fleet.hosts[measured.host], measured)
    return HostFileChange(source.file, source.text, text)


def _under_load(measured: Measurement, machine: Spread) -> dict[str, Any]:
    assert measured.top is not None
    return {
        "watts": _watts(machine.average),
        "low": _watts(machine.minimum, math.floor),
        "high": _watts(machine.maximum, math.ceil),
        "standing": Written("measured"),
        "date": Written(f'"{measured.top.at[:10]}"'),
        "how": (
            f"BMC ({_sources(measured)}) less the cards at the same samples, {machine.count} of them with"
            f" {_loaded(measured)} loaded to {_draws(measured)} by {measured.load_text}"
        ),
    }


def _reading(measured: Measurement) -> dict[str, Any]:
    top = measured.top
    assert top is not None
    reading: dict[str, Any] = {"date": Written(f'"{top.at[:10]}"')}
    if top.bmc is not None:
        reading["source"] = f"{_sources(measured)}, {top.bmc.count} samples at the highest step of a measurement"
        reading["instantaneous"] = _watts(_last_bmc(measured) or top.bmc.average)
        reading["minimum"] = _watts(top.bmc.minimum)
        reading["maximum"] = _watts(top.bmc.maximum)
        reading["average"] = _watts(top.bmc.average)
    else:
        reading["source"] = f"nvidia-smi, {top.samples} samples at the highest step of a measurement; no BMC answered"
    in_order = sorted(top.by_card, key=lambda card: (len(card), card))
    reading["gpus"] = [Written(f"{top.by_card[card]:.1f}W") for card in in_order]
    reading["remark"] = _remark(measured)
    return reading


def _remark(measured: Measurement) -> str:
    said = [f"{_loaded(measured)} loaded by {measured.load_text}"]
    idle = measured.idle
    if idle is not None and idle.bmc is not None and idle.cards_watts is not None:
        on_cards = f"{idle.cards_watts.average:.0f} W on the cards"
        said.append(f"before it, with no card loaded, {idle.bmc.average:.0f} W with {on_cards}")
    if measured.clamp is not None:
        around = measured.clamp.around or "(not told around what)"
        said.append(f"clamp meter {measured.clamp.watts:.0f} W around {around}")
    return "; ".join(said)


def _loaded(measured: Measurement) -> str:
    assert measured.top is not None
    cards = measured.top.cards
    every = set(cards) == set(measured.caps)
    some = f"card{'s' if len(cards) > 1 else ''} {', '.join(cards)} of {len(measured.caps)}"
    return f"all {len(cards)} cards" if every else some


def _draws(measured: Measurement) -> str:
    top = measured.top
    assert top is not None and top.cards_watts is not None
    return f"{top.cards_watts.average:.0f} W together"


def _sources(measured: Measurement) -> str:
    return " and ".join(f"ipmitool {source}" for source in measured.sources) or "ipmitool"


def _last_bmc(measured: Measurement) -> float | None:
    read = [float(one["bmc_watts"]) for one in measured.top_samples if one.get("bmc_watts") is not None]
    return read[-1] if read else None


def _watts(value: float, rounded: Any = round) -> Written:
    return Written(f"{rounded(value)}W")


def _prove(text: str, host: Host, measured: Measurement) -> None:
    """The edited text is read as any declaration is; only what was meant may differ. Raises ValueError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.yml"
        path.write_text(text, encoding="utf-8")
        source = read_source(path, path.name, HOST_KEY)
    if source is None or source.problems:
        raise ValueError(
            f"the edited file of {host.host} is no declaration: {source.problems if source else text[:80]}"
        )
    edited = Host.model_validate(source.data, context={"written": True})
    before, after = host.model_dump(), edited.model_dump()
    for data in (before, after):
        power = data["power"]
        power["readings"] = power["readings"][: len(host.power.readings)] if host.power else []
        del power["under_load"], power["supply_loss"]
    if before != after or edited.power is None or host.power is None:
        raise ValueError(f"the edited file of {host.host} says other things than before beside what was measured")
    if len(edited.power.readings) != len(host.power.readings) + 1:
        raise ValueError(f"the edited file of {host.host} has not one reading more")


__all__ = ["HostFileChange", "host_file_change"]
