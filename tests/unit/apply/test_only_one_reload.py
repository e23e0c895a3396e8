"""Protects: nothing of the project reloads systemd but the one handler that looks into containers afterwards."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "plugins" / "module_utils" / "gpu_seats"
YAML = [path for folder in ("roles", "playbooks") for path in sorted((PROJECT / folder).rglob("*.yml"))]
PYTHON = [path for folder in ("plugins", "library") for path in sorted((PROJECT / folder).rglob("*.py"))]
RELOADING_MODULES = re.compile(r"daemon_re(?:load|exec)|ansible\.builtin\.(?:systemd|systemd_service|service)\b")


def words_of(path: Path) -> set[str]:
    """Every text in the code; the documentation of modules is one long text of its own."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_one_file_asks_systemd_for_a_reload() -> None:
    asking = [path for path in PYTHON if words_of(path) & {"daemon-reload", "daemon-reexec"}]
    assert asking == [PACKAGE / "apply" / "daemon_reload.py"]
    callers = [path for path in PYTHON if "import reload_findings" in path.read_text(encoding="utf-8")]
    assert callers == [PROJECT / "library" / "systemd_reload.py"]


def test_no_role_uses_a_module_that_reloads_by_itself() -> None:
    assert len(YAML) > 10
    assert [path for path in YAML if RELOADING_MODULES.search(path.read_text(encoding="utf-8"))] == []


def test_one_handler_calls_the_module_and_roles_that_write_units_notify_it() -> None:
    calls = re.compile(r"^ +systemd_reload:$", re.MULTILINE)
    calling = [path for path in YAML if calls.search(path.read_text(encoding="utf-8"))]
    assert calling == [PROJECT / "roles" / "systemd_reload" / "handlers" / "main.yml"]
    for role in sorted((PROJECT / "roles").iterdir()):
        tasks = "".join(path.read_text(encoding="utf-8") for path in sorted((role / "tasks").glob("*.yml")))
        if "systemd_units:" in tasks:
            assert "notify: Reload systemd and check the GPUs of containers" in tasks, role.name
            assert "role: systemd_reload" in (role / "meta" / "main.yml").read_text(encoding="utf-8"), role.name
