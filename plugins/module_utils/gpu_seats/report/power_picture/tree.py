"""The order of the rows: each device, then what hangs below it, each host or load drawn once."""

from __future__ import annotations

from collections.abc import Iterator
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
    rows: list[Row] = []
    for device in tree.devices:
        if not any(parent.name in device.parents for parent in tree.devices):
            _add_device(tree, device, 0, None, rows)
    for device in tree.devices:
        if not _is_drawn(device.name, rows):
            _add_device(tree, device, 0, None, rows)
    return rows + [Row(load, 0) for load in tree.loads if not _is_drawn(load.name, rows)]


def _add_device(tree: PowerTree, device: Device, depth: int, above: int | None, rows: list[Row]) -> None:
    again = _is_drawn(device.name, rows)
    rows.append(Row(device, depth, above, again))
    if again:
        return
    here = len(rows) - 1
    for load in _directly_below(tree, device):
        rows.append(Row(load, depth + 1, here, _is_drawn(load.name, rows)))
    for below in _devices_below(tree, device):
        _add_device(tree, below, depth + 1, here, rows)


def _is_drawn(name: str, rows: list[Row]) -> bool:
    return any(row.subject.name == name for row in rows)


def _devices_below(tree: PowerTree, device: Device) -> Iterator[Device]:
    return (below for below in tree.devices if device.name in below.parents)


def _directly_below(tree: PowerTree, device: Device) -> list[Load]:
    """Loads with no other device between; a device out of use carries none, whatever its plugs are meant for."""
    if not device.in_use:
        return []
    further = {name for below in _devices_below(tree, device) if below.in_use for name in below.loads}
    known = {load.name: load for load in tree.loads}
    return [known[name] for name in device.loads if name in known and name not in further]
