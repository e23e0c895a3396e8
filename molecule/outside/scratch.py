"""A copy of the project whose declarations a test may spoil."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from .lab_host import NAME
from .plays import PROJECT

_COPIED = ("stacks", "lab/stacks", "inventories", "playbooks")
_LINKED = ("roles", "plugins", "library", ".lab")


class ScratchProject:
    """root: its directory. Roles and plugins are the project's own, by link."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in _COPIED:
            shutil.copytree(PROJECT / name, root / name, symlinks=True)
        for name in ("ansible.cfg", "deploy-seat.yml"):
            shutil.copy(PROJECT / name, root / name)
        for name in _LINKED:
            (root / name).symlink_to(PROJECT / name)

    def stack_file(self, stack: str) -> Path:
        """Where the stack is declared."""
        for folder in ("stacks", "lab/stacks"):
            if (self.root / folder / stack / "stack.yml").is_file():
                return self.root / folder / stack / "stack.yml"
        return self.root / "stacks" / stack / "stack.yml"

    def restore_all(self) -> None:
        """The project's own declarations again."""
        for name in ("stacks", "lab/stacks", "inventories"):
            shutil.rmtree(self.root / name)
            shutil.copytree(PROJECT / name, self.root / name, symlinks=True)

    def edit_text(self, stack: str, old: str, new: str) -> None:
        """Replaces one text that stands in the file once."""
        file = self.stack_file(stack)
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def declare(self, stack: str, workload: str, **values: Any) -> None:
        """Sets keys of one seat or service; mappings are merged, None removes the key."""
        file = self.stack_file(stack)
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        _merge((data.get("seats") or {}).get(workload) or data["services"][workload], values)
        file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")

    def only_serving(self, *seats: str) -> None:
        """Every other seat and service that has cards is dormant."""
        for file in self.root.glob("*/*/stack.yml"):
            data = yaml.safe_load(file.read_text(encoding="utf-8"))
            rest = {**(data.get("seats") or {}), **(data.get("services") or {})}
            for name, workload in rest.items():
                if name not in seats and workload.get("gpus") and workload["state"] == "serving":
                    self.declare(data["stack"], name, state="dormant")

    def declare_host(self, **values: Any) -> None:
        """Sets keys of the lab's host; mappings are merged, None removes the key."""
        self._declare(f"host_vars/{NAME}.yml", "gpu_seats_host", values)

    def declare_site(self, site: str, **values: Any) -> None:
        """Sets keys of a site; mappings are merged, None removes the key."""
        self._declare(f"group_vars/site_{site}.yml", "gpu_seats_site", values)

    def _declare(self, file_name: str, top: str, values: dict[str, Any]) -> None:
        file = self.root / "inventories" / "production" / file_name
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        _merge(data[top], values)
        file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")

    def add_stack(self, stack: str, data: dict[str, Any]) -> None:
        """A stack that the project does not have."""
        folder = self.root / "stacks" / stack
        folder.mkdir()
        (folder / "stack.yml").write_text(yaml.safe_dump({"stack": stack, **data}, sort_keys=False), encoding="utf-8")


def _merge(target: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        else:
            target[key] = value
