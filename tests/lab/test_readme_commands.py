"""Every command that the README shows runs as printed, against the lab."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
BIN = PROJECT / ".venv" / "bin"
README = (PROJECT / "README.md").read_text(encoding="utf-8")
TOOLS = ("ansible-playbook", "gpu-seats")
MAY_FIND = ("playbooks/status.yml",)
"""Exit code 2 is right for these where the lab does not run every declared seat."""


def shown_commands() -> list[str]:
    """Commands in console blocks and in the table of verbs; fragments (`... --check`) and patterns are left out."""
    inline = re.findall(r"`((?:ansible-playbook|gpu-seats) [^`]*)`", README)
    console = re.findall(r"^\$ ((?:ansible-playbook|gpu-seats) .*)$", README, re.MULTILINE)
    whole = [one for one in [*console, *inline] if "..." not in one]
    return list(dict.fromkeys(whole))


def _output_of_the_host(command: str) -> str:
    argv = ["ssh", "-F", str(PROJECT / ".lab" / "ssh_config"), "fv-ml1", command]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_readme_shows_every_verb() -> None:
    text = "\n".join(shown_commands())
    for verb in (
        "deploy-seat.yml",
        "status.yml",
        "retire-seat.yml",
        "playbooks/power.yml",
        "playbooks/power-measure.yml",
        "gpu-seats power ",
        "gpu-seats power-plot",
        "lint",
        "plan",
        "render",
        "parse",
        "schema",
        "explain",
    ):
        assert verb in text


FILES = {
    "out.txt": "nvidia-smi --query-gpu=index,uuid --format=csv",
    # the tool is there since playbooks/power.yml, which the README shows before
    "samples.jsonl": (
        "python3 /usr/local/lib/gpu-seats/gpu-seats-host.pyz sample --every-s 1 --until-s 2 --out /run/readme.jsonl"
        " && cat /run/readme.jsonl && rm /run/readme.jsonl"
    ),
}
"""Files that commands read, and what writes them on the host."""


@pytest.mark.parametrize("command", shown_commands())
def test_a_command_of_the_readme_runs(command: str, tmp_path: Path) -> None:
    for name, made_by in FILES.items():
        if name in command:
            (tmp_path / name).write_text(_output_of_the_host(made_by))
            command = command.replace(name, str(tmp_path / name))
    command = command.replace("--out plots", f"--out {tmp_path}")
    tool, *words = shlex.split(command)
    ended = subprocess.run(
        [str(BIN / tool), *words], cwd=PROJECT, capture_output=True, text=True, timeout=180, check=False
    )
    allowed = (0, 2) if any(name in command for name in MAY_FIND) else (0,)
    assert ended.returncode in allowed, ended.stdout[-3000:] + ended.stderr[-2000:]
    assert ended.stdout.strip()
    assert "Traceback" not in ended.stderr
