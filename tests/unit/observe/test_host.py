"""One look at a host: a hung, missing or half-answering tool never hides what the others say, and is never a zero."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_seats.observe.command import CommandResult, command_findings, run
from gpu_seats.observe.engine_api import EngineUnreachableError
from gpu_seats.observe.host import cards as host_cards
from gpu_seats.observe.host import docker as host_docker
from gpu_seats.observe.host.cards import observed_cards
from gpu_seats.observe.host.docker import observed_docker
from gpu_seats.observe.host.gather import _answers
from gpu_seats.observe.host.system import addresses_of, memory_of, observed_disks, observed_listeners

Answers = Callable[[Sequence[str]], "tuple[int | None, str]"]
GOOD = {
    "index": "0",
    "uuid": "GPU-aa",
    "pci.bus_id": "00000000:01:00.0",
    "memory.total": "97887",
    "memory.free": "97245",
    "driver_version": "580.178.04",
}


def tool(answers: Answers) -> Callable[[Sequence[str], float], CommandResult]:
    """A stand-in for running a command: `answers` gives (exit code, output), None as code for a hang."""

    def ask(argv: Sequence[str], limit_s: float) -> CommandResult:
        rc, text = answers(argv)
        return CommandResult(tuple(argv), rc, text, "", limit_s, timed_out=rc is None)

    return ask


def fields_of(argv: Sequence[str]) -> list[str]:
    return next(one for one in argv if one.startswith("--query-gpu=")).split("=", 1)[1].split(",")


def row(argv: Sequence[str], **changes: str) -> str:
    return ", ".join({**GOOD, **changes}.get(name, "[N/A]") for name in fields_of(argv)) + "\n"


def test_cards_and_the_containers_of_their_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_cards, "_container_of", lambda pid: {"container_id": "c" * 64} if pid == 7 else {})

    def answers(argv: Sequence[str]) -> tuple[int, str]:
        if argv[1].startswith("--query-gpu"):
            return 0, row(argv)
        return (
            0,
            "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\nGPU-aa, 7, python3, 900 MiB\nGPU-aa, 8, x, [N/A]\n",
        )

    seen = observed_cards(tool(answers), [])
    assert [(card["uuid"], card["memory_free_mib"]) for card in seen["cards"]] == [("GPU-aa", 97245.0)]
    assert seen["card_count"] == 1
    assert seen["processes"][0]["container_id"] == "c" * 64
    assert "container_id" not in seen["processes"][1]


def test_fields_that_the_driver_does_not_know_are_left_out_one_by_one() -> None:
    unknown = ["memory.reserved", "mig.mode.current"]

    def answers(argv: Sequence[str]) -> tuple[int, str]:
        if not argv[1].startswith("--query-gpu"):
            return 0, "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
        bad = [name for name in unknown if name in fields_of(argv)]
        return (2, f'Field "{bad[0]}" is not a valid field to query.\n\n') if bad else (0, row(argv))

    seen = observed_cards(tool(answers), [])
    assert seen["cards"][0]["uuid"] == "GPU-aa"
    assert [one["code"] for one in seen["findings"] if one["code"] == "gpu.query_field_unknown"] == [
        "gpu.query_field_unknown",
        "gpu.query_field_unknown",
    ]


def test_a_driver_that_knows_no_field_is_not_asked_for_ever() -> None:
    asked = []

    def answers(argv: Sequence[str]) -> tuple[int, str]:
        if not argv[1].startswith("--query-gpu"):
            return 0, ""
        asked.append(argv)
        return 2, f'Field "{fields_of(argv)[0]}" is not a valid field to query.\n'

    assert observed_cards(tool(answers), [])["cards"] is None
    assert len(asked) < 20


def test_after_a_lost_card_the_others_are_asked_alone_and_the_count_is_unknown() -> None:
    def answers(argv: Sequence[str]) -> tuple[int, str]:
        lost = (
            "Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.  "
            "Reboot the system to recover this GPU\n"
        )
        if not argv[1].startswith("--query-gpu"):
            return 15, lost
        if "-i" not in argv:
            return 15, lost
        card = argv[list(argv).index("-i") + 1]
        return (15, lost) if card == "GPU-cc" else (0, row(argv, uuid=card))

    seen = observed_cards(tool(answers), ["GPU-aa", "GPU-bb", "GPU-cc"])
    assert [card["uuid"] for card in seen["cards"]] == ["GPU-aa", "GPU-bb"]
    assert seen["card_count"] is None
    assert "does not answer" in seen["unknown"]["card_count"]
    assert "gpu.lost" in {one["code"] for one in seen["findings"]}


def test_a_driver_that_hangs_is_a_finding_and_no_card_count() -> None:
    seen = observed_cards(tool(lambda argv: (None, "")), [])
    assert (seen["cards"], seen["card_count"], seen["processes"]) == (None, None, None)
    assert [one["code"] for one in seen["findings"]] == ["command.hung"]
    assert "no answer" in seen["unknown"]["cards"]


def test_no_devices_is_zero_cards_not_unknown() -> None:
    seen = observed_cards(tool(lambda argv: (6, "No devices were found\n")), [])
    assert (seen["cards"], seen["card_count"]) == ([], 0)


def test_a_version_mismatch_names_the_loaded_and_the_installed_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    version = tmp_path / "version"
    version.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n")
    monkeypatch.setattr(host_cards, "_MODULE_VERSION", version)
    text = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.178\n"
    seen = observed_cards(tool(lambda argv: (18, text)), [])
    (found,) = seen["findings"]
    assert (found["evidence"]["loaded"], found["evidence"]["library"]) == ("580.65.06", "580.178")
    assert seen["cards"] is None


class FakeEngine:
    """Docker Engine with one container and one image."""

    def __init__(self, fails: Exception | None = None, runtimes: Sequence[str] = ("runc",)) -> None:
        self.fails = fails
        self.runtimes = runtimes

    def info(self) -> dict[str, Any]:
        if self.fails:
            raise self.fails
        return {"ServerVersion": "29.8.2", "Runtimes": {name: {} for name in self.runtimes}, "DockerRootDir": "/d"}

    def containers(self) -> list[dict[str, Any]]:
        return [{"Id": "ab"}, {"Id": "gone"}]

    def inspect(self, container: str) -> dict[str, Any] | None:
        return (
            None
            if container == "gone"
            else {"Id": container, "Name": "/a", "State": {"Status": "running", "Running": True}}
        )

    def image(self, name: str) -> dict[str, Any] | None:
        return {"Id": "sha256:1"} if name == "x:1" else None


def compose(answer: tuple[int | None, str] = (0, "2.40.3\n")) -> Callable[[Sequence[str], float], CommandResult]:
    return tool(lambda argv: answer)


def test_docker_lists_containers_and_tells_missing_images() -> None:
    seen = observed_docker(FakeEngine(), compose(), ["x:1", "y:2"])  # type: ignore[arg-type]
    assert (seen["available"], seen["engine_version"], seen["compose_version"]) == (True, "29.8.2", "2.40.3")
    assert [one["name"] for one in seen["containers"]] == ["a"]
    assert seen["images"] == {"x:1": "sha256:1", "y:2": None}


def test_docker_that_is_down_is_a_finding_and_no_empty_host() -> None:
    seen = observed_docker(FakeEngine(EngineUnreachableError("refused", "nobody listens")), compose(), [])  # type: ignore[arg-type]
    assert (seen["available"], seen["containers"], seen["images"]) == (False, None, None)
    assert [one["code"] for one in seen["findings"]] == ["compose.engine_unreachable"]


def test_docker_that_refuses_this_user_says_so() -> None:
    seen = observed_docker(FakeEngine(EngineUnreachableError("permission", "no permission")), compose(), [])  # type: ignore[arg-type]
    assert [one["code"] for one in seen["findings"]] == ["compose.engine_denied"]


def test_compose_that_is_missing_is_told_from_docker_that_is_down() -> None:
    seen = observed_docker(FakeEngine(), compose((1, "docker: 'compose' is not a docker command.\n")), [])  # type: ignore[arg-type]
    assert seen["compose_version"] is None
    assert [one["code"] for one in seen["findings"]] == ["compose.plugin_missing"]


def test_a_runtime_in_daemon_json_that_the_engine_lacks_means_another_or_an_old_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "daemon.json"
    settings.write_text('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}, "userland-proxy": false}')
    monkeypatch.setattr(host_docker, "_DAEMON_FILE", settings)
    seen = observed_docker(FakeEngine(), compose(), [])  # type: ignore[arg-type]
    assert seen["userland_proxy"] is False
    (found,) = seen["findings"]
    assert found["code"] == "gpu.runtime_missing"
    assert "not restarted" in found["message"]
    assert observed_docker(FakeEngine(runtimes=("nvidia",)), compose(), [])["findings"] == []  # type: ignore[arg-type]


def test_listeners_that_could_not_be_read_are_unknown_not_none() -> None:
    assert observed_listeners(tool(lambda argv: (0, "")))["listeners"] == []
    assert observed_listeners(tool(lambda argv: (None, "")))["listeners"] is None
    assert (
        observed_listeners(tool(lambda argv: (1, "Cannot open netlink socket: Permission denied\n")))["listeners"]
        is None
    )


def test_memory_lines_that_are_missing_are_unknown() -> None:
    assert memory_of("MemTotal:       2048 kB\nMemAvailable:   1024 kB\n") == {
        "total_mib": 2.0,
        "available_mib": 1.0,
        "swap_free_mib": None,
    }
    assert memory_of("garbage")["available_mib"] is None


def test_a_path_that_is_not_there_yet_is_looked_at_through_its_parent(tmp_path: Path) -> None:
    asked = str(tmp_path / "not" / "there")
    seen = observed_disks([asked])
    assert seen["disks"][asked]["on"] == str(tmp_path)
    assert seen["disks"][asked]["free_mib"] > 0
    assert seen["findings"] == []


def test_addresses_of_interfaces_are_listed() -> None:
    text = json.dumps(
        [{"ifname": "lo", "addr_info": [{"local": "127.0.0.1"}, {"local": "10.251.50.54"}]}, {"ifname": "x"}]
    )
    assert addresses_of(text) == ["127.0.0.1", "10.251.50.54"]
    assert addresses_of("nope") is None
    assert addresses_of("{}") is None


def test_a_part_that_hangs_or_breaks_does_not_take_the_others_along() -> None:
    def broken() -> dict[str, Any]:
        raise ZeroDivisionError("oops")

    began = time.monotonic()
    said = _answers({"slow": lambda: time.sleep(30) or {}, "broken": broken, "good": lambda: {"x": 1}}, limit_s=0.5)
    assert time.monotonic() - began < 5
    assert said["good"] == {"x": 1}
    assert [said[name]["findings"][0]["code"] for name in ("slow", "broken")] == ["command.hung", "observe.part_failed"]


def test_a_command_that_hangs_is_ended_with_its_children() -> None:
    ended = run(["sh", "-c", "sleep 30 & sleep 30"], 0.3)
    assert (ended.rc, ended.timed_out) == (None, True)
    assert ended.elapsed_s < 10
    assert [one.code for one in command_findings(ended, "tool:sh")] == ["command.hung"]


def test_a_command_that_is_not_there_is_missing_not_an_exception() -> None:
    ended = run(["/nonexistent/nvidia-smi"], 1)
    assert ended.missing
    assert [one.code for one in command_findings(ended, "tool:nvidia-smi")] == ["command.missing"]


def test_a_command_that_fails_keeps_both_outputs() -> None:
    ended = run(["sh", "-c", "echo out; echo err >&2; exit 3"], 5)
    assert (ended.rc, ended.text) == (3, "out\nerr")
    assert command_findings(ended, "tool:sh") == []
