"""The GPUs inside running containers, with an engine in memory that answers as Docker's API does.

Protects: after a daemon-reload no container stays without its cards unseen, none is restarted that has them, and none
is restarted while the host's own driver fails.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.engine_api import EngineRefusedError, EngineUnreachableError
from gpu_seats.verify.container_gpus import check_containers, gpu_containers

UUIDS = tuple(f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(4))
LOST = (255, "Failed to initialize NVML: Unknown Error\n")
GONE = (127, 'OCI runtime exec failed: exec failed: exec: "nvidia-smi": executable file not found in $PATH')


def listing(*cards: int) -> tuple[int, str]:
    return 0, "".join(f"GPU {at}: A card (UUID: {UUIDS[card]})\n" for at, card in enumerate(cards))


class Engine:
    """Containers by name. inside: what nvidia-smi answers in each; cured: what it answers after a restart."""

    def __init__(self, inside: dict[str, Any], cured: dict[str, Any] | None = None) -> None:
        self.inside = dict(inside)
        self.cured = cured or {}
        self.host_config: dict[str, dict[str, Any]] = {}
        self.env: dict[str, list[str]] = {}
        self.status = dict.fromkeys(inside, "running")
        self.started = dict.fromkeys(inside, 0)
        self.restarted: list[str] = []
        self.asked: list[str] = []
        self.refuses: Exception | None = None
        self.dies_when_asked: set[str] = set()
        self.lock = threading.Lock()

    def containers(self) -> list[dict[str, Any]]:
        return [{"Id": name, "Names": [f"/{name}"], "State": self.status[name]} for name in self.inside]

    def inspect(self, container: str) -> dict[str, Any] | None:
        request = {"Driver": "nvidia", "Count": 0, "DeviceIDs": [UUIDS[2]], "Capabilities": [["gpu"]]}
        running = self.status[container] in ("running", "paused")  # as Docker says it
        return {
            "Id": container,
            "Name": f"/{container}",
            "State": {
                "Status": self.status[container],
                "Running": running,
                "StartedAt": f"2026-01-01T00:00:0{self.started[container]}Z",
            },
            "Config": {"Env": self.env.get(container, [])},
            "HostConfig": self.host_config.get(container, {"DeviceRequests": [request], "Runtime": "runc"}),
        }

    def execute(self, container: str, command: list[str], limit_s: float = 15.0) -> tuple[int | None, str]:
        assert command == ["nvidia-smi", "-L"] and limit_s > 0
        with self.lock:
            self.asked.append(container)
        if container in self.dies_when_asked:
            self.status[container] = "exited"
        answer = self.inside[container]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def restart(self, container: str, grace_s: int = 30) -> None:
        if self.refuses:
            raise self.refuses
        self.restarted.append(container)
        self.started[container] += 1
        self.inside[container] = self.cured.get(container, self.inside[container])
        if self.inside[container] == "ends":
            self.status[container] = "exited"


def host(rc: int | None = 0, text: str = listing(0, 1, 2, 3)[1]) -> Any:
    def run(argv: Sequence[str], limit_s: float) -> CommandResult:
        return CommandResult(tuple(argv), rc, text, "", limit_s, timed_out=rc is None)

    return run


@pytest.fixture
def lock(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def states(checked: Any) -> dict[str, str]:
    return {look.container: look.state for look in checked.looks}


class TestLooking:
    def test_all_containers_see_their_cards(self, lock: str) -> None:
        engine = Engine({"a": listing(2), "b": listing(2)})
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert states(checked) == {"a": "ok", "b": "ok"} and checked.findings == [] and checked.ok
        assert engine.restarted == [] and not checked.changed

    @pytest.mark.parametrize(
        ("answer", "state", "code", "fails"),
        [
            (LOST, "lost", "gpu.container_lost_device", True),
            ((6, "No devices were found\n"), "lost", "gpu.container_lost_device", True),
            (listing(1), "lost", "gpu.container_lost_device", True),
            (
                (18, "Failed to initialize NVML: Driver/library version mismatch\n"),
                "failing",
                "gpu.driver_mismatch",
                True,
            ),
            (
                (15, "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.  Reboot the system\n"),
                "failing",
                "gpu.lost",
                True,
            ),
            (EngineUnreachableError("timeout", "no answer"), "hung", "command.hung", True),
            (GONE, "unknown", "seat.gpus_unknown", False),
            (EngineRefusedError(400, GONE[1], "exec"), "unknown", "seat.gpus_unknown", False),
        ],
    )
    def test_what_nvidia_smi_says_inside_is_told_for_that_container(
        self, lock: str, answer: Any, state: str, code: str, fails: bool
    ) -> None:
        checked = check_containers(Engine({"a": answer, "b": listing(2)}), host(), lock_path=lock)
        assert states(checked) == {"a": state, "b": "ok"}
        assert [(one.code, one.subject) for one in checked.findings] == [(code, "container:a")]
        assert checked.ok is not fails and not checked.changed

    @pytest.mark.parametrize(
        ("host_config", "answer", "state"),
        [
            ({"DeviceRequests": [{"Count": 2, "Capabilities": [["gpu"]]}]}, listing(0), "lost"),
            ({"DeviceRequests": [{"Count": 2, "Capabilities": [["gpu"]]}]}, listing(0, 1), "ok"),
            ({"DeviceRequests": [{"Count": -1, "Capabilities": [["gpu"]]}]}, listing(0), "ok"),
            ({"DeviceRequests": [{"DeviceIDs": ["0", "3"], "Capabilities": [["gpu"]]}]}, listing(0), "lost"),
            ({"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}]}, listing(0), "ok"),
            ({"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=1"]}]}, LOST, "lost"),
        ],
    )
    def test_fewer_cards_than_were_given_are_a_loss(
        self, lock: str, host_config: dict[str, Any], answer: Any, state: str
    ) -> None:
        engine = Engine({"a": answer})
        engine.host_config["a"] = host_config
        assert states(check_containers(engine, host(), lock_path=lock)) == {"a": state}

    def test_a_container_that_ended_meanwhile_has_lost_nothing(self, lock: str) -> None:
        engine = Engine({"a": (137, "")})
        engine.dies_when_asked = {"a"}
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert states(checked) == {"a": "ended"} and checked.findings == [] and engine.restarted == []

    def test_only_running_containers_that_were_given_cards_are_asked(self) -> None:
        engine = Engine(dict.fromkeys(("requested", "runtime", "cuda-image", "plain", "stopped"), listing(2)))
        engine.status["stopped"] = "exited"
        engine.host_config = {
            "runtime": {"Runtime": "nvidia"},
            "cuda-image": {"Runtime": "runc"},
            "plain": {"Runtime": "runc"},
        }
        engine.env = {name: ["NVIDIA_VISIBLE_DEVICES=all"] for name in ("runtime", "cuda-image")}
        assert [one.name for one in gpu_containers(engine)] == ["requested", "runtime"]

    def test_one_that_is_paused_is_told_and_not_asked(self, lock: str) -> None:
        engine = Engine({"a": LOST, "b": listing(2)})
        engine.status["a"] = "paused"
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert states(checked) == {"a": "unknown", "b": "ok"} and engine.asked == ["b"] and engine.restarted == []
        assert checked.ok and "is paused" in checked.findings[0].message


class TestRepair:
    def test_only_those_that_lost_them_are_restarted_and_looked_at_again(self, lock: str) -> None:
        engine = Engine({"a": LOST, "b": listing(2), "c": LOST}, cured={"a": listing(2), "c": listing(2)})
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert engine.restarted == ["a", "c"] and states(checked) == {"a": "ok", "b": "ok", "c": "ok"}
        assert checked.ok and checked.changed
        assert [(one.code, one.severity) for one in checked.findings] == [("gpu.container_lost_device", "warning")] * 2

    def test_one_restart_and_no_more(self, lock: str) -> None:
        engine = Engine({"a": LOST})
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert engine.restarted == ["a"] and not checked.ok and checked.changed
        assert "a restart did not help" in checked.findings[0].message

    @pytest.mark.parametrize(
        ("after", "remedy"),
        [(listing(2), "Nothing now."), (LOST, "Recreate the container"), ("ends", "docker logs a")],
    )
    def test_nobody_is_told_to_restart_what_was_restarted(self, lock: str, after: Any, remedy: str) -> None:
        checked = check_containers(Engine({"a": LOST}, cured={"a": after}), host(), repair=True, lock_path=lock)
        (found,) = checked.findings
        assert remedy in found.remedy and "Restart the container" not in found.remedy

    def test_who_only_looks_is_told_to_restart_it(self, lock: str) -> None:
        (found,) = check_containers(Engine({"a": LOST}), host(), lock_path=lock).findings
        assert found.remedy.startswith("Restart the container.")

    @pytest.mark.parametrize(
        "answer", [EngineUnreachableError("timeout", "x"), GONE, (255, "a text that nobody knows"), (0, "")]
    )
    def test_what_a_restart_does_not_cure_is_not_restarted(self, lock: str, answer: Any) -> None:
        engine = Engine({"a": answer})
        check_containers(engine, host(), repair=True, lock_path=lock)
        assert engine.restarted == [] and engine.asked == ["a"]

    @pytest.mark.parametrize(
        ("rc", "text"),
        [
            (18, "Failed to initialize NVML: Driver/library version mismatch\n"),
            (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
            (255, "Failed to initialize NVML: Unknown Error\n"),
            (6, "No devices were found\n"),
            (None, ""),
        ],
    )
    def test_nothing_is_restarted_while_the_host_fails_too(self, lock: str, rc: int | None, text: str) -> None:
        """Protects: running engines that still serve are not killed for a fault that a restart makes worse."""
        engine = Engine({"a": LOST}, cured={"a": listing(2)})
        checked = check_containers(engine, host(rc, text), repair=True, lock_path=lock)
        assert engine.restarted == [] and not checked.ok
        assert "not restarted, because nvidia-smi fails on the host too" in checked.findings[0].message
        assert checked.findings[0].remedy.startswith("Clear what nvidia-smi on the host says first")

    def test_a_container_that_does_not_come_back_is_told(self, lock: str) -> None:
        checked = check_containers(Engine({"a": LOST}, cured={"a": "ends"}), host(), repair=True, lock_path=lock)
        assert not checked.ok and "does not run" in checked.findings[0].message and checked.changed

    @pytest.mark.parametrize(
        ("problem", "code"),
        [
            (EngineRefusedError(500, "could not select device driver", "restart"), "gpu.container_lost_device"),
            (EngineUnreachableError("timeout", "no answer within 90 s"), "compose.container_wedged"),
        ],
    )
    def test_a_restart_that_docker_does_not_do_is_told(self, lock: str, problem: Exception, code: str) -> None:
        engine = Engine({"a": LOST, "b": listing(2)})
        engine.refuses = problem
        checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert [one.code for one in checked.findings] == [code] and not checked.ok and not checked.changed

    def test_no_restart_crosses_a_deploy(self, lock: str, monkeypatch: pytest.MonkeyPatch) -> None:
        from gpu_seats.apply.host_lock import HostLock
        from gpu_seats.verify import container_gpus

        monkeypatch.setattr(container_gpus, "_LOCK_WAIT_S", 0.1)
        engine = Engine({"a": LOST}, cured={"a": listing(2)})
        with HostLock("a deploy", lock):
            checked = check_containers(engine, host(), repair=True, lock_path=lock)
        assert engine.restarted == [] and "a deploy" in checked.findings[0].message

    def test_what_another_run_repaired_meanwhile_is_not_restarted_again(self, lock: str) -> None:
        """Protects: two runs at once restart an engine, which loads for minutes, once and not twice."""
        engine = Engine({"a": LOST, "b": LOST, "c": LOST}, cured={"c": listing(2)})

        def host_after_the_other_run(argv: Sequence[str], limit_s: float) -> CommandResult:
            engine.inside["a"] = listing(2)
            engine.status["b"] = "exited"
            return host()(argv, limit_s)

        checked = check_containers(engine, host_after_the_other_run, repair=True, lock_path=lock)
        assert engine.restarted == ["c"] and states(checked) == {"a": "ok", "c": "ok"} and checked.ok


class TestEngineAway:
    @pytest.mark.parametrize(("reason", "codes"), [("no_socket", []), ("refused", ["compose.engine_unreachable"])])
    def test_no_docker_is_nothing_to_check_and_a_silent_one_is_told(self, reason: str, codes: list[str]) -> None:
        class Away(Engine):
            def containers(self) -> list[dict[str, Any]]:
                raise EngineUnreachableError(reason, "gone")

        checked = check_containers(Away({}), host(), repair=True)
        assert [one.code for one in checked.findings] == codes
        assert json.loads(json.dumps(checked.as_dict()))["ok"] is not bool(codes)
