"""Which hosts the inventory's own YAML files name, so that a declared host is one that a play reaches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from .fleet import Fleet
    from .problems import Problem


def groups_of(inventory: Path) -> dict[str, set[str]] | None:
    """Hosts by group of the inventory's YAML files; None when it has none that can be read without Ansible.

    Ansible reads these files itself and says what is wrong with them; here a file that is no plain group tree (a
    plugin's settings, INI, a script) is passed over.
    """
    groups: dict[str, set[str]] = {}
    trees = [tree for path in sorted(inventory.glob("*.y*ml")) for tree in _trees(path)]
    for name, body in trees:
        _add_group(groups, name, body)
    return groups if trees else None


def _trees(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError):
        return
    if isinstance(data, dict) and "plugin" not in data:
        yield from ((str(name), body) for name, body in data.items())


def _syntax_problems(path: Path) -> Iterator[Problem]:
    """Text that no YAML reader takes; tags that only Ansible knows are none of it."""
    from .problems import Problem

    try:
        yaml.compose(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.scanner.ScannerError, yaml.parser.ParserError) as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        shown = f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
        yield Problem(shown, line, "", None, f"is no YAML: {error.problem or error.context}", remedy="Ansible needs it")
    except (OSError, ValueError, yaml.YAMLError):
        return


def _add_group(groups: dict[str, set[str]], name: str, body: Any) -> set[str]:
    """Adds the group and its children; returns every host below it."""
    hosts = groups.setdefault(name, set())
    if isinstance(body, dict):
        hosts.update(str(host) for host in body.get("hosts") or {})
        for child, below in (body.get("children") or {}).items():
            hosts |= _add_group(groups, str(child), below)
    return hosts


def inventory_problems(fleet: Fleet, inventory: Path) -> Iterator[Problem]:
    """Declared hosts that no group names, hosts that stand in another site's group, and files that are no YAML."""
    broken = [problem for path in sorted(inventory.glob("*.y*ml")) for problem in _syntax_problems(path)]
    if broken:
        yield from broken
        return
    groups = groups_of(inventory)
    if groups is None:
        return
    everywhere = set().union(*groups.values())
    for name, host in fleet.hosts.items():
        source = fleet.origins[f"host:{name}"]
        if host.site not in fleet.sites:
            continue  # said already
        if name not in everywhere:
            message = "is in no group of the inventory, so no play reaches it"
            yield source.problem(("host",), message, remedy=f"add it to hosts.yml, below site_{host.site}")
            continue
        sites = sorted(group for group, hosts in groups.items() if group.startswith("site_") and name in hosts)
        if sites != [f"site_{host.site}"]:
            found = ", ".join(sites) or "no group of a site"
            message = f"does not agree with the inventory, where {name} is in {found}"
            yield source.problem(("site",), message, f"the one group site_{host.site}")
