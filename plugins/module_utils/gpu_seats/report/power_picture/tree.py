"""The order of the rows: each device, then what hangs below it, each host or load drawn once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .records import Device, Load, PowerTree


@dataclass(frozen=True)
class Row:
    """One line of the tree. above: index of the row that it hangs below. again: drawn in full by another row."""

    subject: Device | Load
    depth: int
    above: int | None = None
    again: bool = False


def rows_of(tree: PowerTree) -> list[Row]:
    """Depth first. A load stands below the last device before it, and again, briefly, below a second feed.

    What hangs below nothing comes last: a device of a ring, a load on no circuit.
    """
    names = {device.name for device in tree.devices}
    below: dict[str, list[Device]] = {name: [] for name in names}
    for device in tree.devices:
        for parent in names.intersection(device.parents):
            below[parent].append(device)
    rows: list[Row] = []
    drawn: set[str] = set()
    for device in tree.devices:
        if names.isdisjoint(device.parents):
            _add_device(tree, device, below, rows, drawn)
    for device in tree.devices:
        if device.name not in drawn:
            _add_device(tree, device, below, rows, drawn)
    return rows + [Row(load, 0) for load in tree.loads if load.name not in drawn]


def _add_device(
    tree: PowerTree, top: Device, below: Mapping[str, list[Device]], rows: list[Row], drawn: set[str]
) -> None:
    """The rows of `top` and of all below it, by a list of what is still to do: a chain may be of any length."""
    pending: list[tuple[Device, int, int | None]] = [(top, 0, None)]
    while pending:
        device, depth, above = pending.pop()
        rows.append(Row(device, depth, above, device.name in drawn))
        if device.name in drawn:
            continue
        drawn.add(device.name)
        here = len(rows) - 1
        for load in _directly_below(tree, device, below[device.name]):
            rows.append(Row(load, depth + 1, here, load.name in drawn))
            drawn.add(load.name)
        pending += [(one, depth + 1, here) for one in reversed(below[device.name])]


def _directly_below(tree: PowerTree, device: Device, below: Iterable[Device]) -> list[Load]:
    """Loads with no other device between; a device out of use carries none, whatever its plugs are meant for."""
    if not device.in_use:
        return []
    further = {name for one in below if one.in_use for name in one.loads}
    return [tree.by_name[name] for name in device.loads if name in tree.by_name and name not in further]
