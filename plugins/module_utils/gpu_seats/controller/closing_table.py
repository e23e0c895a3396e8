"""Gathers the results of one run over all hosts into the table that the run ends with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..findings import Finding, finding, finding_from_dict
from ..observe.records import on_host
from ..report.finding_list import distinct
from ..report.plan_table import actions_text, plan_text
from ..report.seat_table import SeatRow, cards_text, seat_table_text
from ..report.terminal import PLAIN, Terminal
from .module_answer import told_line
from .power_closing import OF_POWER, power_closing_text

_OF_SEATS = ("seat_plan", "compose_stacks", "seat_ready", "published_ports", "seat_gone")
GATHERED = (*_OF_SEATS, *OF_POWER)


@dataclass
class _HostRun:
    """What one host's tasks returned, by task; `unreachable` is the connection's own text."""

    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unreachable: str = ""

    def of(self, task: str) -> Mapping[str, Any]:
        return self.results.get(task, {})


class ClosingTable:
    """Fed by the callback plugin; `text` is empty for a run that none of the gathered tasks took part in."""

    def __init__(self) -> None:
        self._hosts: dict[str, _HostRun] = {}

    def task_result(self, host: str, action: str, result: Mapping[str, Any]) -> None:
        """Keeps the first result of each task (the second `compose_stacks` only keeps what was verified), of power's
        tasks one that failed."""
        if action not in GATHERED or result.get("skipped"):
            return
        results = self._hosts.setdefault(host, _HostRun()).results
        if action in OF_POWER and result.get("failed"):
            results[action] = result
        results.setdefault(action, result)

    def host_unreachable(self, host: str, reason: str) -> None:
        self._hosts.setdefault(host, _HostRun()).unreachable = reason

    def text(self, terminal: Terminal = PLAIN) -> str:
        """Plans (in check mode or when refused), then rows and findings of all hosts."""
        if not self._hosts:
            return ""
        plans = [plan for name in sorted(self._hosts) if (plan := _plan_of(self._hosts[name], terminal))]
        rows = [row for name in sorted(self._hosts) for row in rows_of(self._hosts[name].results)]
        findings = [one for name in sorted(self._hosts) for one in _findings_of(name, self._hosts[name])]
        rollbacks = [text for name in sorted(self._hosts) if (text := _rollback_text(name, self._hosts[name]))]
        advice = [text for name in sorted(self._hosts) if (text := _advice_text(name, self._hosts[name]))]
        power = power_closing_text({name: run.results for name, run in self._hosts.items()}, terminal)
        told = seat_table_text(rows, findings, terminal)
        return "\n".join(part for part in [*plans, *rollbacks, power, told, *advice] if part)


def _plan_of(run: _HostRun, terminal: Terminal) -> str:
    plan = run.of("seat_plan")
    if not plan.get("plan") or not (plan.get("check_mode") or plan.get("failed")):
        return ""
    shown = {**plan["plan"], "refusals": [], "findings": []}  # these stand below the seats
    stacks = run.of("compose_stacks").get("stacks")
    if plan.get("rollback"):  # budgets are of what is declared, not of what is brought back
        return f"{plan['plan']['host']}\n\n{actions_text(stacks or [], terminal)}"
    return plan_text(shown, stacks, terminal)


def _rollback_text(host: str, run: _HostRun) -> str:
    """Whether a rollback had anything to bring back."""
    applied = run.of("compose_stacks")
    if not run.of("seat_plan").get("rollback") or not applied or applied.get("failed"):
        return ""
    if applied.get("changed"):
        return f"{host}: back to the last verified deploy\n"
    return f"{host}: what runs is the last verified deploy already, nothing to bring back\n"


def _advice_text(host: str, run: _HostRun) -> str:
    """After a deploy whose seats did not come up: where their log is, and the way back where there is one."""
    failed = {one["seat"] for one in run.of("seat_ready").get("seats") or () if not one["ok"]}
    entries = [one for one in _seats_of(run.results) if one["seat"] in failed]
    if not entries or not run.of("compose_stacks"):
        return ""
    logs = "".join(f"  docker logs --tail 100 {one['container']}    (on {host})\n" for one in entries)
    kept = {stack["name"] for stack in run.of("compose_stacks").get("stacks") or () if stack.get("kept")}
    back = ",".join(str(one["seat"]) for one in entries if one["stack"] in kept)
    rollback = f"  ansible-playbook deploy-seat.yml -e seat={back} -e rollback=true\n" if back else ""
    return f"Next:\n{logs}{rollback}"


def joined_findings(results: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """Findings of all tasks, each once. What was seen of a container is told of its seat, in the words of the task that
    looked last."""
    seats = {f"container:{one['container']}": f"seat:{one['seat']}" for one in _seats_of(results)}
    found: dict[tuple[str, str], list[Finding]] = {}
    for result in results.values():
        here: dict[tuple[str, str], list[Finding]] = {}
        for data in result.get("findings") or ():
            one = finding_from_dict(data)
            one = replace(one, subject=seats.get(one.subject, one.subject))
            here.setdefault((one.code, one.subject), []).append(one)
        found.update(here)
    return distinct(one for group in found.values() for one in group)


def _seats_of(results: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list(results.get("seat_plan", {}).get("seats") or ())


def _findings_of(host: str, run: _HostRun) -> list[Finding]:
    reported = run.of("power_report").get("findings")
    found = joined_findings(run.results) if reported is None else [finding_from_dict(data) for data in reported]
    if reported is None and set(run.results) & set(OF_POWER):
        found = [one if one.subject.startswith("site:") else on_host([one], host)[0] for one in found]
    found += _broken_off(host, run)
    if run.unreachable:
        found.append(finding("host.unreachable", f"host:{host}", f"no connection: {run.unreachable.strip()}"))
    return found


def _broken_off(host: str, run: _HostRun) -> list[Finding]:
    """Tasks of power that could not do their work: whatever the others found is not the whole then."""
    return [
        finding("host.step_failed", f"host:{host}", f"{task} could not be done: {told_line(result)}")
        for task, result in run.results.items()
        if task in OF_POWER and result.get("failed") and not any(map(_fails, result.get("findings") or ()))
    ]


def _fails(data: dict[str, Any]) -> bool:
    return finding_from_dict(data).fails


def rows_of(results: Mapping[str, Mapping[str, Any]]) -> list[SeatRow]:
    """One row a selected workload, with the strongest word that any task has on it."""
    plan = results.get("seat_plan", {})
    verified = {one["seat"]: one for one in results.get("seat_ready", {}).get("seats") or ()}
    gone = {one["seat"]: one for one in results.get("seat_gone", {}).get("seats") or ()}
    return [
        _row(entry, {**verified, **gone}.get(entry["seat"]), _fallback(entry, plan, results))
        for entry in plan.get("seats") or ()
    ]


def _row(entry: Mapping[str, Any], seen: Mapping[str, Any] | None, fallback: tuple[str, bool | None]) -> SeatRow:
    verdict, ok = (str(seen["verdict"]), bool(seen["ok"])) if seen else fallback
    return SeatRow(entry["seat"], entry["state"], cards_text(entry["cards"]), str(entry["port"]), verdict, ok)


def _fallback(
    entry: Mapping[str, Any], plan: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]]
) -> tuple[str, bool | None]:
    """What is said of a seat that no verifying task looked at."""
    if plan.get("failed"):
        return "refused, nothing was touched", False
    applied = results.get("compose_stacks", {})
    actions = [one for one in _actions_on(entry, applied) if one["action"] != "none"]
    if plan.get("check_mode"):
        return "; ".join(f"would {one['action']}: {one['why']}" for one in actions) or "nothing to change", None
    if applied.get("failed"):
        return f"failed to {actions[0]['action']}" if actions else "not applied", False
    if actions:  # how it stood before is no longer how it stands
        return "; ".join(f"{one['action']}: {one['why']}" for one in actions), None
    return str(entry.get("standing") or "not verified"), None


def _actions_on(entry: Mapping[str, Any], applied: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        one
        for stack in applied.get("stacks") or ()
        if stack["name"] == entry["stack"]
        for one in stack.get("actions") or ()
        if one.get("service") == entry["seat"]
    ]
