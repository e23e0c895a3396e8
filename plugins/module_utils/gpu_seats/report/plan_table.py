"""What a deployment would do to one host: VRAM before and after, containers and why, refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ..findings import finding_from_dict
from .finding_list import count_text, findings_text
from .styled import Cell, Column, table_text
from .terminal import PLAIN, Terminal, wrapped
from .vram_bars import vram_text

_COLUMNS = (Column("stack"), Column("container"), Column("what"), Column("why"))
_STYLE_OF_WHAT = {"create": "green", "start": "green", "recreate": "yellow", "stop": "yellow", "remove": "red"}
_RUN_WORDS = {
    "up": "runs",
    "stopped": "stays stopped",
    "keep": "as it is",
    "leave": "as it is",
    "absent": "not deployed",
}


def plan_text(
    plan: Mapping[str, Any], actions: Optional[Sequence[Mapping[str, Any]]] = None, terminal: Terminal = PLAIN
) -> str:
    """The plan of one host (`DeploymentPlan.as_dict`) for people.

    actions: what `compose_stacks` in check mode says it would do, one ``{name, actions}`` a stack; without them
    (offline, or refused) the table says what each selected container is meant to be.
    """
    parts = [f"{plan['host']}\n", vram_text(plan["cards"], terminal), host_ram_text(plan["host_ram"], terminal)]
    parts.append(_intents_text(plan["stacks"], terminal) if actions is None else actions_text(actions, terminal))
    refusals = [finding_from_dict(data) for data in plan["refusals"]]
    if refusals:
        parts.append("Refused, nothing is touched:\n" + findings_text(refusals, terminal))
    others = [finding_from_dict(data) for data in plan["findings"]]
    if others:
        parts.append(f"{count_text(others)}\n" + findings_text(others, terminal))
    return "\n".join(part for part in parts if part)


def host_ram_text(budget: Mapping[str, Any], terminal: Terminal = PLAIN) -> str:
    """One line of a `RamBudget.as_dict`: what is claimed, of how much, and whose claims nobody declared."""
    known = [f"{claim['workload']} {claim['mib'] / 1024:.1f}" for claim in budget["claims"] if claim["mib"]]
    unknown = sum(claim["mib"] is None for claim in budget["claims"])
    total = "?" if budget["total_mib"] is None else f"{(budget['total_mib'] - budget['reserve_mib']) / 1024:.1f}"
    text = f"host RAM, GiB: {budget['claimed_mib'] / 1024:.1f} claimed of {total}"
    text += f" ({', '.join(known)})" if known else ""
    text += f", {budget['available_mib'] / 1024:.1f} available now" if budget["available_mib"] is not None else ""
    text += f"; {unknown} more declare no claim" if unknown else ""
    return "".join(f"{line}\n" for line in wrapped(text, terminal.width, "", "  "))


def actions_text(stacks: Iterable[Mapping[str, Any]], terminal: Terminal) -> str:
    rows = [
        (
            Cell(stack["name"]),
            Cell(_subject(action)),
            Cell(action["action"], _STYLE_OF_WHAT.get(action["action"], "")),
            Cell(str(action.get("why") or "")),
        )
        for stack in stacks
        for action in stack.get("actions") or ()
        if action["action"] != "none"
    ]
    return table_text(_COLUMNS, rows, terminal) if rows else "Nothing to change.\n"


def _subject(action: Mapping[str, Any]) -> str:
    """The container, or of a file only its name: the reason names its path."""
    subject = str(action.get("container") or action.get("service") or "")
    return subject.rpartition("/")[2] if action["action"] == "write" else subject


def _intents_text(stacks: Iterable[Mapping[str, Any]], terminal: Terminal) -> str:
    """A row for each selected container that is to run; all others in one line for each reason."""
    chosen = [(stack["stack"], one) for stack in stacks for one in stack["workloads"].values() if one["selected"]]
    rows = [
        (Cell(stack), Cell(one["container"]), Cell(_RUN_WORDS["up"]), Cell(one["why"]))
        for stack, one in chosen
        if one["run"] == "up"
    ]
    others: dict[tuple[str, str], list[str]] = {}
    for _, one in chosen:
        if one["run"] != "up":
            others.setdefault((_RUN_WORDS[one["run"]], one["why"]), []).append(one["container"])
    lines = [
        line
        for (what, why), names in others.items()
        for line in wrapped(f"{what} ({why}): {', '.join(names)}", terminal.width, "", "  ")
    ]
    table = table_text(_COLUMNS, rows, terminal) if rows else ""
    return table + "".join(f"{line}\n" for line in lines)
