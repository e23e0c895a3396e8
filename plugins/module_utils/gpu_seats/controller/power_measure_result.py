"""What a measurement leaves on the controller: the samples, a plot, a diff of the host file, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..apply.atomic_files import WantedFile, file_change, write_file
from ..declare.fleet import Fleet
from ..findings import Finding, by_severity, finding
from ..observe.power_log import PowerLog, read_power_log
from ..plan.power.ladder import HostLimit, host_limits
from ..plan.power.measurement import (
    Measurement,
    measurement_findings,
    measurement_of,
    supply_reading,
)
from ..plan.power.site import SitePower, site_power
from ..report.finding_list import findings_text
from ..report.power_figure import write_plot
from ..report.power_measured import measured_text
from ..report.power_plot import plot_of
from ..report.terminal import PLAIN
from .measured_host_file import host_file_change
from .power_measure_follow import step_text
from .power_measure_plan import PlannedMeasurement, load_text


@dataclass(frozen=True)
class MeasureResult:
    """written: files on the controller. ok: every planned step was measured and nothing failed. text: to be shown."""

    ok: bool
    verdict: str
    text: str
    diff: str
    findings: list[Finding]
    written: list[str]
    steps: list[dict[str, Any]]

    def as_result(self) -> dict[str, Any]:
        return {
            "failed": not self.ok,
            "msg": self.verdict,
            "measured_diff": self.diff,
            "findings": [one.as_dict() for one in self.findings],
            "written": self.written,
            "steps": self.steps,
        }


def measure_result(
    fleet: Fleet,
    host: str,
    log_text: str,
    stop: Mapping[str, Any] | None,
    told: list[Finding],
    folder: Path,
    inventories: Sequence[object],
) -> MeasureResult:
    """Everything of one file of samples. stop: the line that says why the load was stopped. told: findings so far.

    inventories: named in the diff, because figures of a simulated host belong in no declaration.
    """
    log = read_power_log(log_text.encode("utf-8"))
    measured = measurement_of(log)
    power = site_power(fleet, fleet.hosts[host].site)
    limits = host_limits(power, host)
    supply = supply_reading(measured, _others(power, host)) if measured is not None else None
    findings = list(told)
    if stop is not None:
        findings.append(finding(stop["code"], f"host:{host}", stop["message"], dict(stop.get("evidence") or {})))
    if measured is None:
        verdict = f"{host}: nothing was measured"
        return MeasureResult(False, verdict, findings_text(by_severity(findings), PLAIN), "", findings, [], [])
    findings += measurement_findings(measured, len(log.torn), supply)
    name = f"{host}-{measured.began[:16].replace('T', '-').replace(':', '')}"
    written = _written(folder, name, log_text, log, limits, host)
    change = host_file_change(fleet, measured, supply)
    if change.diff:
        origin = f"Measured on {host} through {_shown(inventories)}, samples in {written[0]}"
        text = f"# {origin}. Look it over, then: git apply THIS\n{change.diff}"
        written.append(_kept(folder.resolve() / f"{name}.diff", text))
    findings = by_severity(findings)
    failing = next((one for one in findings if one.fails), None)
    top = f"{len(measured.steps)} steps measured, {_peak(measured)}"
    verdict = f"{host}: {top}" if failing is None else f"{host}: {failing.message} ({top})"
    cautions = _cautions(fleet, host, change.file, inventories)
    text = measured_text(measured, limits, supply, change.diff, written, cautions) + findings_text(findings, PLAIN)
    return MeasureResult(failing is None, verdict, text, change.diff, findings, written, _steps(measured))


def _cautions(fleet: Fleet, host: str, file: str, inventories: Sequence[object]) -> list[str]:
    """What to know before the diff is applied: another inventory than the file's, and what the file calls unknown."""
    folders = {folder for one in _shown(inventories).split(", ") if (folder := _inventory_of(one))}
    said = []
    if folders - {_inventory_of(file)}:
        through = ", ".join(sorted(folders))
        said.append(
            f"CAREFUL: measured through {through}, and the diff is of {file}. Figures of simulated cards belong into no"
            " declaration: apply it only if this was the real host"
        )
    power = fleet.hosts[host].power
    if power is not None and power.unknown:
        said.append(f"read power.unknown of {file} again, and strike what this measurement answers:")
        said += [f"  - {text}" for text in power.unknown]
    return said


def _inventory_of(path: str) -> str:
    """``inventories/lab`` of a path in it, else nothing."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "inventories" and len(parts) > 1 else ""


def _shown(inventories: Iterable[object]) -> str:
    """Inventories without where the project lies."""
    paths = [str(one) for one in inventories]
    return ", ".join(one[one.find("inventories/") :] if "inventories/" in one else one for one in paths)


def _kept(path: Path, text: str) -> str:
    """Writes the file whole or not at all; its path."""
    write_file(file_change(WantedFile(str(path), text)))
    return str(path)


def _peak(measured: Measurement) -> str:
    watts = measured.peak_watts
    return "no watts of the machine" if watts is None else f"peak {watts:.0f} W at the BMC"


def refused_result(host: str, findings: list[Finding]) -> dict[str, Any]:
    """The task's result where nothing was loaded."""
    told = "; ".join(f"{one.message}. {one.remedy}".strip() for one in findings)
    message = f"{host}: refused, no load was put on any card: {told}"
    return {"changed": False, "failed": True, "msg": message, "findings": [one.as_dict() for one in findings]}


def shown_ladder(planned: PlannedMeasurement, facts: Mapping[str, Any], every_step: bool) -> str:
    """What is about to happen, before anything is loaded: threshold and readings of now, every step where asked."""
    ladder, plan = planned.ladder, planned.plan
    top = plan.steps[-1].number
    lines = [step_text(plan, ladder, rung.number) for rung in ladder.rungs] if every_step else []
    stop = f"{ladder.stop_at_watts:.0f} W of the host ({ladder.stop_words})"
    lines.append(
        f"{plan.host}  {top} steps above idle; the load is ended above {stop}, readings times {ladder.loss_factor:.2f}"
    )
    if ladder.others:
        lines.append(f"{plan.host}  counted beside it, whatever they do now: {'; '.join(ladder.others)}")
    bmc = facts["bmc"]
    now = f"{bmc['watts']:.0f} W by {bmc['source']}" if bmc.get("watts") is not None else f"no value ({bmc['reason']})"
    cards = ", ".join(f"{one['draw_watts']:.0f}" for one in facts["cards"] if one.get("draw_watts") is not None)
    lines.append(f"{plan.host}  now: BMC {now}; cards {cards} W; files on {facts['mount']}")
    lines.append(f"{plan.host}  {load_text(plan, facts)}")
    lines += [f"{plan.host}  {one.severity} {one.code}: {one.message}" for one in planned.findings]
    return "\n".join(lines)


def _written(folder: Path, name: str, log_text: str, log: PowerLog, limits: list[HostLimit], host: str) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    samples = _kept(folder / f"{name}.jsonl", log_text)
    return [samples, *map(str, write_plot(plot_of(log, limits, host), folder, name))]


def _others(power: SitePower, host: str) -> dict[str, tuple[float, float]]:
    """Device above the host -> least and most of its other loads."""
    return {
        device.name: (
            sum(term.draw.low_watts for term in device.terms if term.name != host),
            sum(term.draw.high_watts for term in device.terms if term.name != host),
        )
        for device in power.devices
        if any(term.name == host for term in device.terms)
    }


def _steps(measured: Measurement) -> list[dict[str, Any]]:
    return [
        {
            "number": step.number,
            "cards": list(step.cards),
            "at": step.at,
            "samples": step.samples,
            "cards_watts": step.cards_watts.average if step.cards_watts else None,
            "bmc_watts": step.bmc.average if step.bmc else None,
            "machine_watts": step.machine.average if step.machine else None,
        }
        for step in measured.steps
    ]


__all__ = ["MeasureResult", "measure_result", "refused_result", "shown_ladder"]
