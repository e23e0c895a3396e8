"""A planned stack as the files and facts that apply and verify need."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..declare.seat import Seat
from ..plan.names import container_name
from ..plan.ports import link_port, listening_port
from ..plan.vllm_flags import list_forms
from .compose import compose_project, compose_service
from .env_file import env_file_text
from .labels import DIGEST_LABEL
from .yaml_text import compose_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from ..declare.stack import Stack
    from ..declare.workload import Workload
    from ..plan.deployment import StackPlan, WorkloadPlan

COMPOSE_FILE = "compose.yaml"
_HEALTH_PATH = {"vllm": "/health", "llamacpp": "/health"}


@dataclass(frozen=True)
class RenderedStack:
    """One Compose project, ready to be written and checked.

    compose: the mapping before escaping. compose_text: the file, serialised once. files: what is written, each with
    path, content, mode and whether it is secret; a secret file also has `needs`, the names whose values it holds, and
    content None where these are not known. services: digest, container, run state, seat and image by service, and
    labels and gpus of those that are in the file (an absent workload is not, its digest is empty). checks: what
    seat_ready verifies, of the workloads that run. project_aliases: spellings under which an older project may run.
    """

    name: str
    project: str
    directory: str
    compose: dict[str, Any]
    compose_text: str
    files: list[dict[str, Any]]
    services: dict[str, dict[str, Any]]
    checks: list[dict[str, Any]]
    project_aliases: list[str]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def render_stack(
    fleet: Fleet,
    host_name: str,
    stack_plan: StackPlan,
    device_ids: Mapping[str, str],
    secrets: Mapping[str, str] | None = None,
) -> RenderedStack:
    """Renders one stack of a plan. device_ids: DeploymentPlan.device_ids.

    secrets: values by name for all secrets of the stack; None: not known here (offline), the digests of services
    with secrets then differ from those of a deployment. Raises KeyError naming a secret that `secrets` lacks,
    ValueError for a workload that lacks what its engine needs.
    """
    host, stack = fleet.hosts[host_name], fleet.stacks[stack_plan.stack]
    services: dict[str, dict[str, Any]] = {}
    facts: dict[str, dict[str, Any]] = {}
    env_files: list[dict[str, Any]] = []
    for name in sorted(stack.workloads):
        workload, planned = stack.workloads[name], stack_plan.workloads[name]
        if planned.run == "absent":
            facts[name] = {**_service_facts(name, workload, planned, ""), "image": workload.image or ""}
            continue
        env_file = _env_file(host, stack.stack, name, workload, secrets)
        path = None if env_file is None else env_file["path"]
        forms = list_forms(workload.image) if isinstance(workload, Seat) and workload.image else None
        service = compose_service(stack.stack, name, workload, host, device_ids, path, forms)
        digest = service_digest(service, None if env_file is None else env_file["content"])
        service["labels"] = dict(sorted({**service["labels"], DIGEST_LABEL: digest}.items()))
        services[name] = service
        env_files += [] if env_file is None else [env_file]
        facts[name] = {
            **_service_facts(name, workload, planned, digest),
            "labels": service["labels"],
            "gpus": _ids(workload.gpus, device_ids),
        }
    compose = compose_project(stack_plan.project, services)
    origin = fleet.origins.get(f"stack:{stack.stack}")
    text = compose_yaml(compose, origin.file if origin else f"stacks/{stack.stack}/stack.yml")
    compose_file = {"path": f"{stack_plan.directory}/{COMPOSE_FILE}", "content": text, "mode": "0644", "secret": False}
    running = [one for one in stack_plan.workloads.values() if one.run == "up"]
    checks = [_check(host, stack, stack_plan.project, one, device_ids, facts[one.name]) for one in running]
    return RenderedStack(
        name=stack.stack,
        project=stack_plan.project,
        directory=stack_plan.directory,
        compose=compose,
        compose_text=text,
        files=[compose_file, *env_files],
        services=facts,
        checks=checks,
        project_aliases=list(stack_plan.aliases),
    )


def service_digest(service: Mapping[str, Any], secret_text: str | None) -> str:
    """SHA-256 of what a container is made from: its service as rendered (without this label) and its secret file."""
    text = json.dumps([service, secret_text], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _env_file(
    host: Host, stack: str, name: str, workload: Workload, secrets: Mapping[str, str] | None
) -> dict[str, Any] | None:
    if not workload.secrets:
        return None
    path = f"{host.paths.conf}/{stack}/{name}.env"
    file: dict[str, Any] = {"path": path, "mode": "0600", "secret": True, "needs": sorted(workload.secrets)}
    if secrets is None:
        return {**file, "content": None}
    missing = [secret for secret in workload.secrets if secret not in secrets]
    if missing:
        raise KeyError(f"{name} of stack {stack} needs {', '.join(missing)}: add them to gpu_seats_secrets (vault)")
    return {**file, "content": env_file_text({secret: secrets[secret] for secret in workload.secrets})}


def _service_facts(name: str, workload: Workload, planned: WorkloadPlan, digest: str) -> dict[str, Any]:
    return {
        "digest": digest,
        "container": planned.container,
        "run": planned.run,
        "why": planned.why,
        "selected": planned.selected,
        "seat": name if planned.is_seat else None,
        "image": workload.image,
    }


def _check(
    host: Host,
    stack: Stack,
    project: str,
    planned: WorkloadPlan,
    device_ids: Mapping[str, str],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """What verify looks at for one running workload. A service that is no seat has engine and task ``none``."""
    name = planned.name
    workload = stack.workloads[name]
    seat = workload if isinstance(workload, Seat) else None
    return {
        "seat": name,
        "kind": "seat" if seat else "service",
        "stack": stack.stack,
        "project": project,
        "service": name,
        "container": container_name(name, workload),
        "image": workload.image,
        "host": host.host,
        "address": host.address,
        "port": link_port(workload),
        "container_port": listening_port(workload),
        "gpus": _ids(workload.gpus, device_ids),
        "engine": seat.engine if seat else "none",
        "task": seat.task if seat else "none",
        "served_name": (seat.model.served_name or name) if seat else None,
        "timeouts": seat.timeouts.model_dump() if seat else None,
        "health_path": _HEALTH_PATH.get(seat.engine) if seat else None,
        "digest": facts["digest"],
    }


def _ids(cards: Iterable[str], device_ids: Mapping[str, str]) -> list[str]:
    return [device_ids[card] for card in cards]
