"""The module as Ansible runs it, with a stand-in for ipmitool that writes down how it was called.

Protects: the password stands in no argument of a process, no log and no result, and check mode reads the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
SECRET = "Tr0ub4dor&3 x"
TOOL = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
printf '%s\\n' "${IPMI_PASSWORD-unset}" >> "$CALLS.passwords"
case "$*" in
*"dcmi power reading"*) printf '\\n    DCMI request failed because: Invalid command (c1)\\n' ;;
*"sdr elist full"*) echo 'PS1 Input Power  | 54h | ok  | 10.1 | 84 Watts' ;;
*"chassis status"*) echo 'System Power         : on' ;;
*) echo '   1 | 06/14/2023 | 10:01:17 | Power Supply #0x51 | Power Supply AC lost | Asserted' ;;
esac
"""


class Play:
    """Runs the module by ``ansible`` on this machine and reads its result."""

    def __init__(self, home: Path) -> None:
        self.home = home
        tool = home / "ipmitool"
        tool.write_text(TOOL)
        tool.chmod(0o755)
        self.calls = home / "calls"
        self.printed = ""

    def run(self, options: dict[str, object], *extra: str, **variables: str) -> dict[str, object]:
        tree = self.home / "tree"
        command = [str(Path(sys.executable).parent / "ansible"), "localhost", "-i", "localhost,", "-c", "local"]
        command += ["-m", "bmc_power_info", "-a", json.dumps(options), "-vvv", "--tree", str(tree), *extra]
        environment = {
            **os.environ,
            **variables,
            "PATH": f"{self.home}:{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_LOCAL_TEMP": str(self.home / "local"),
            "ANSIBLE_REMOTE_TEMP": str(self.home / "remote"),
        }
        done = subprocess.run(
            [*command, "-e", f"ansible_python_interpreter={sys.executable}"],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.printed = done.stdout + done.stderr
        result: dict[str, object] = json.loads((tree / "localhost").read_text())
        return result


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


def test_a_password_given_as_an_option_reaches_only_the_tools_environment(play: Play) -> None:
    options = {"address": "192.0.2.9", "username": "monitor", "password": SECRET}
    result = play.run(options)
    assert (result["watts"], result["source"], result["reads"]) == (84.0, "sensor", "ac")
    assert result["changed"] is False
    assert [one["event"] for one in result["events"]] == ["Power Supply AC lost"]  # type: ignore[index,attr-defined]
    assert SECRET not in play.calls.read_text()
    assert set(Path(f"{play.calls}.passwords").read_text().splitlines()) == {SECRET}
    assert SECRET not in json.dumps(result)
    invoked = play.printed[play.printed.index("SUCCESS") :]
    assert "invocation" in invoked and SECRET not in invoked
    assert "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER" in invoked


def test_check_mode_reads_the_same_and_a_password_file_is_only_named(play: Play) -> None:
    secret = play.home / "bmc-password"
    secret.write_text(SECRET + "\n")
    options = {"address": "192.0.2.9", "username": "monitor", "password_file": str(secret)}
    done, checked = play.run(options), play.run(options, "--check")
    assert done == checked
    assert SECRET not in play.printed + play.calls.read_text()
    assert f"-f {secret}" in play.calls.read_text()
    assert secret.read_text() == SECRET + "\n"


def test_options_that_lead_to_no_bmc_fail_with_what_to_do(play: Play) -> None:
    result = play.run({"interface": "lanplus"})
    assert "FAILED!" in play.printed or "failed" in result
    assert "needs the address" in str(result["msg"])
    assert not play.calls.exists()


def test_options_that_lead_to_no_bmc_are_a_finding_for_who_goes_on_without_it(play: Play) -> None:
    result = play.run({"interface": "lanplus", "tolerate": True})
    assert "failed" not in result and result["watts"] is None and not play.calls.exists()
    assert "needs the address" in str(result["reason"])
    assert [one["code"] for one in result["findings"]] == ["bmc.not_asked"]  # type: ignore[index,attr-defined]
