"""A Docker host in memory: containers in the shape of `docker inspect`, and a `docker compose up` that acts on them.

Compose files of these tests are JSON (which is YAML), so that the fake can read what the run wrote.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from pathlib import Path

from gpu_seats.apply.stack_steps import Host
from gpu_seats.apply.wanted import wanted_stack
from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.engine_api import EngineRefusedError

PROJECT = "com.docker.compose.project"
SERVICE = "com.docker.compose.service"
CONFIG_HASH = "com.docker.compose.config-hash"


class Killed(BaseException):
    """Ends a run like a kill: nothing in the product catches it."""


class FakeDockerHost:
    """Answers as the engine's API does, and runs the docker command lines that the product makes."""

    def __init__(self, images=("app:1", "app:2", "app:3")):
        self.found = {}
        self.images = {name: image_id(name) for name in images}
        self.registry = {}
        self.calls = []
        self.taken_ports = set()
        self.loses_ports_of = []
        self.fails = {}
        self.lock = threading.RLock()
        self._numbers = itertools.count(1)

    # the engine's API -------------------------------------------------------------------------------------------
    def containers(self):
        with self.lock:
            return [
                {
                    "Id": one["Id"],
                    "Names": [one["Name"]],
                    "Image": one["Config"]["Image"],
                    "ImageID": one["Image"],
                    "Labels": dict(one["Config"]["Labels"]),
                    "State": one["State"]["Status"],
                }
                for one in self.found.values()
            ]

    def inspect(self, container):
        with self.lock:
            one = self._find(container)
            return json.loads(json.dumps(one)) if one else None

    def image(self, name):
        return {"Id": self.images[name], "RepoDigests": []} if name in self.images else None

    def start(self, container, limit_s=60.0):
        self._state(container, "running")
        self._publish(self._find(container))

    def unpause(self, container):
        self._state(container, "running")

    def stop(self, container, grace_s=30):
        if self._find(container)["State"]["Status"] != "created":
            self._state(container, "exited")

    def remove(self, container):
        with self.lock:
            self.calls.append(f"remove {self._find(container)['Name'][1:]}")
            del self.found[self._find(container)["Id"]]

    # commands ---------------------------------------------------------------------------------------------------
    def run(self, argv, limit_s):
        argv = list(argv)
        with self.lock:
            self.calls.append(" ".join(argv))
            if argv[1] == "pull":
                return self._pull(argv)
            return self._up(argv)

    def _pull(self, argv):
        name = argv[-1]
        if name not in self.registry:
            return CommandResult(tuple(argv), 1, "", f"Error response from daemon: manifest for {name} not found")
        self.images[name] = self.registry[name]
        return CommandResult(tuple(argv), 0, name, "")

    def _up(self, argv):
        project = argv[argv.index("--project-name") + 1]
        compose = json.loads(Path(argv[argv.index("--file") + 1]).read_text())
        names = argv[argv.index("--timeout") + 2 :]
        force = "--force-recreate" in names
        for name in [name for name in names if not name.startswith("-")]:
            failure = self.fails.get(name)
            if failure:
                for one in [one for one in self.found.values() if labels(one).get(SERVICE) == name]:
                    del self.found[one["Id"]]
                self._made(project, name, compose["services"][name], "created", networks=False)
                return CommandResult(tuple(argv), 1, "", failure)
            old = [one for one in self.found.values() if labels(one).get(SERVICE) == name]
            old = [one for one in old if labels(one).get(PROJECT) == project]
            if old and not force:
                continue
            for one in old:
                del self.found[one["Id"]]
            made = self._made(project, name, compose["services"][name], "running")
            if name in self.loses_ports_of:
                self.loses_ports_of.remove(name)
                made["NetworkSettings"]["Ports"] = {}
        return CommandResult(tuple(argv), 0, "", "")

    def _made(self, project, name, service, status, networks=True):
        return self.add(
            service["container_name"],
            status=status,
            image=service["image"],
            labels={**service["labels"], PROJECT: project, SERVICE: name, CONFIG_HASH: config_hash(service)},
            ports=service.get("ports", ()),
            networks=networks,
        )

    # the test's own hand ----------------------------------------------------------------------------------------
    def add(self, name, status="running", image="app:1", labels=None, ports=(), networks=True, published=True):
        if any(one["Name"] == f"/{name}" for one in self.found.values()):
            raise AssertionError(f"two containers named {name}: the engine would refuse")
        number = next(self._numbers)
        wanted = {f"{inner}/tcp": [{"HostIp": "", "HostPort": outer}] for outer, inner in (p.split(":") for p in ports)}
        one = {
            "Id": hashlib.sha256(str(number).encode()).hexdigest(),
            "Name": f"/{name}",
            "Image": self.images.get(image, image_id(image)),
            "RestartCount": 0,
            "State": {"Status": status, "ExitCode": 0, "Error": ""},
            "Config": {"Image": image, "Labels": dict(labels or {})},
            "HostConfig": {"NetworkMode": "x_default", "PortBindings": wanted},
            "NetworkSettings": {"Ports": {}, "Networks": {"x_default": {}} if networks else {}},
        }
        self.found[one["Id"]] = one
        if status == "running" and published:
            self._publish(one)
        return one

    def named(self, name):
        return next(one for one in self.found.values() if one["Name"] == f"/{name}")

    def names(self):
        return sorted(one["Name"][1:] for one in self.found.values())

    def ids(self):
        return {one["Name"][1:]: one["Id"] for one in self.found.values()}

    def host(self, **more):
        return Host(engine=self, run=self.run, pause=lambda _seconds: None, **more)

    def _publish(self, one):
        if one["NetworkSettings"]["Networks"]:
            one["NetworkSettings"]["Ports"] = dict(one["HostConfig"]["PortBindings"])

    def _state(self, container, status):
        with self.lock:
            one = self._find(container)
            if one is None:
                raise EngineRefusedError(404, f"No such container: {container}", "POST")
            self.calls.append(f"{status} {one['Name'][1:]}")
            one["State"]["Status"] = status

    def _find(self, container):
        return self.found.get(container) or next(
            (one for one in self.found.values() if one["Name"] == f"/{container}"), None
        )


def image_id(name):
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def config_hash(service):
    """Changes with anything in the service, as Compose's own does."""
    return hashlib.sha256(json.dumps(service, sort_keys=True).encode()).hexdigest()


def labels(one):
    return one["Config"]["Labels"]


def compose_service(container, image="app:1", port=None, extra_labels=None):
    service = {"image": image, "container_name": container, "labels": dict(extra_labels or {})}
    if port:
        service["ports"] = [f"{port}:8000"]
    return service


def rendered(base, name="one", services=None, runs=None, **more):
    """A rendered stack as the controller hands it over, with its directory below `base`."""
    services = services if services is not None else {"app": compose_service("app", port=8022)}
    facts = {}
    for service_name, service in services.items():
        own = {key: value for key, value in service["labels"].items() if key != "gpu-seats.digest"}
        own["gpu-seats.stack"] = name
        digest = hashlib.sha256(json.dumps([service["image"], own, service.get("ports")]).encode()).hexdigest()
        service["labels"] = {**own, "gpu-seats.digest": digest}
        facts[service_name] = {
            "digest": digest,
            "container": service["container_name"],
            "run": (runs or {}).get(service_name, "up"),
            "seat": service_name,
            "image": service["image"],
            "labels": dict(service["labels"]),
        }
    return {
        "name": name,
        "project": name,
        "directory": f"{base}/compose/{name}",
        "compose_text": json.dumps({"name": name, "services": services}),
        "files": [],
        "services": facts,
        "checks": [],
        "project_aliases": [],
        **more,
    }


def stack_of(base, *args, **more):
    return wanted_stack(rendered(base, *args, **more))


def actions(result):
    """``{container: action}`` of everything but files."""
    return {one["container"]: one["action"] for one in result.actions if one["action"] != "write"}


def codes(result):
    return [one.code for one in result.findings]
