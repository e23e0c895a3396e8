"""The lab host as an operator with ssh sees it: docker, ss, curl, nvidia-smi, stat, systemctl."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import testinfra

from .plays import PROJECT

NAME = "fv-ml1"
ADDRESS = "10.251.50.54"  # declared; the host has it, the controller has not
CARDS = {str(number): f"GPU-5e7a000{number}-c0de-4000-8000-00000000000{number}" for number in range(4)}


class LabHost:
    """Commands on the host; each must end with 0 unless told otherwise. sockets: where ssh keeps its connection."""

    def __init__(self, sockets: Path) -> None:
        config = PROJECT / ".lab" / "ssh_config"
        assert config.is_file(), "the lab host is not there: start it with `make lab`"
        kept = f"-o ControlMaster=auto -o ControlPersist=60s -o ControlPath={sockets}/%C"
        self._ssh = testinfra.get_host(f"ssh://root@{NAME}?ssh_config={config}", ssh_extra_args=kept)

    def sh(self, command: str, ok: bool = True) -> str:
        """What the shell command printed on stdout."""
        done = self._ssh.run(command)
        assert done.rc == 0 or not ok, f"{command}\nrc {done.rc}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def inspect(self, container: str) -> dict[str, Any]:
        """`docker inspect` of one container."""
        record: dict[str, Any] = json.loads(self.sh(f"docker inspect --type container {container}"))[0]
        return record

    def id(self, container: str) -> str:
        """Its id; empty where there is no such container."""
        return self.sh(f"docker inspect --type container --format '{{{{.Id}}}}' {container}", ok=False)

    def containers(self) -> dict[str, str]:
        """Status of every container by name."""
        lines = self.sh("docker ps --all --format '{{.Names}} {{.State}}'").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def listens(self, port: int) -> bool:
        """Whether anything listens on a TCP port of the host."""
        return bool(self.sh(f"ss -H -l -t -n 'sport = :{port}'"))

    def get(self, port: int, path: str) -> str:
        """HTTP status of a GET on the host's declared address; 000 where there is no connection."""
        url = f"http://{ADDRESS}:{port}{path}"
        return self.sh(f"curl -s -o /dev/null -m 5 -w '%{{http_code}}' {url}", ok=False)

    def completion(self, port: int, model: str) -> str:
        """Text of one chat completion, asked on the host."""
        asked = {"model": model, "messages": [{"role": "user", "content": "Say one word."}], "max_tokens": 4}
        url = f"http://{ADDRESS}:{port}/v1/chat/completions"
        answer = self.sh(f"curl -s -m 60 -H 'Content-Type: application/json' -d '{json.dumps(asked)}' {url}")
        text = json.loads(answer)["choices"][0]["message"]["content"]
        assert isinstance(text, str) and text, answer
        return text

    def card_used_mib(self, uuid: str) -> int:
        """Used memory of a card by nvidia-smi."""
        return int(self.sh(f"nvidia-smi -i {uuid} --query-gpu=memory.used --format=csv,noheader,nounits"))

    def limit(self, card: str) -> str:
        """The power limit that a card enforces, as nvidia-smi prints it: ``275.00``, or its words where it has none."""
        query = "--query-gpu=enforced.power.limit --format=csv,noheader,nounits"
        return self.sh(f"nvidia-smi -i {CARDS[card]} {query}", ok=False)

    def limits(self) -> dict[str, str]:
        """`limit` of every card, asked one by one: a lost card ends a query of all."""
        query = "--query-gpu=enforced.power.limit --format=csv,noheader,nounits"
        asked = "; ".join(f"echo {card} $(nvidia-smi -i {uuid} {query})" for card, uuid in CARDS.items())
        return dict(line.split(" ", 1) for line in self.sh(asked).splitlines())

    def unit(self, name: str, *properties: str) -> dict[str, str]:
        """What `systemctl show` says of a unit."""
        wanted = " ".join(f"--property={one}" for one in properties)
        return dict(line.split("=", 1) for line in self.sh(f"systemctl show {wanted} {name}").splitlines())

    def reboot(self, crash: bool = False) -> None:
        """Shut down and booted again, or with the plug pulled. Returns when systemd and Docker are settled."""
        verb = [sys.executable, "-m", "lab", "reboot", *(["--crash"] if crash else [])]
        done = subprocess.run(verb, cwd=PROJECT, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def wait(self, what: str, true: Callable[[], bool], limit_s: float = 20) -> None:
        """Until it is so; fails the test after `limit_s`."""
        deadline = time.monotonic() + limit_s
        while not true():
            assert time.monotonic() < deadline, f"{what}: not so after {limit_s} s"
            time.sleep(0.3)

    def snapshot(self) -> str:
        """Everything that a deploy could touch: containers, images, networks, volumes, files under /opt/docker."""
        return f"{self.docker_snapshot()}\n{self.file_snapshot()}"

    def docker_snapshot(self) -> str:
        """Containers (with the moment they started), images, networks, volumes."""
        return self.sh(
            "docker ps --all --quiet --no-trunc | sort | xargs -r docker inspect --format "
            "'{{.Id}} {{.Name}} {{.State.Status}} {{.State.StartedAt}} {{.RestartCount}}';"
            "docker images --all --no-trunc --format '{{.ID}} {{.Repository}}:{{.Tag}}' | sort;"
            "docker network ls --no-trunc --format '{{.ID}} {{.Name}}' | sort; docker volume ls --quiet | sort"
        )

    def file_snapshot(self) -> str:
        """Path, inode, mode, owner, size and time of every file and directory under /opt/docker."""
        return self.sh("find /opt/docker -printf '%p %i %M %u:%g %s %T@\\n' 2>/dev/null | sort", ok=False)

    def power_snapshot(self) -> str:
        """Everything that playbooks/power.yml could touch: units and their state, files, limits, persistence."""
        units = "gpu-seats-power-caps.service gpu-seats-power-watch.timer nvidia-persistenced.service"
        return self.sh(
            "find /etc/systemd/system /etc/gpu-seats /usr/local/lib/gpu-seats -printf '%p %i %M %u:%g %s %T@\\n' "
            f"2>/dev/null | sort; systemctl show --property=Id,UnitFileState,ActiveState,NeedDaemonReload {units};"
            "nvidia-smi --query-gpu=uuid,enforced.power.limit,persistence_mode --format=csv",
            ok=False,
        )

    def clear_faults(self) -> None:
        """Every simulated failure off, strangers' memory given back."""
        self.sh("gpu-sim clear; gpu-sim release; bmc-sim clear")
