"""A deployment of one host as task data: planned, rendered, and made safe to keep in a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..declare.fleet import Fleet
from ..declare.selection import Selection
from ..declare.workload import Workload
from ..findings import Finding, finding
from ..plan.deployment import DeploymentPlan
from ..plan.run_states import StackPlan
from ..render.compose import mounts_of
from ..render.env_file import env_file_text
from ..render.stack import RenderedStack, render_stack


def observation_arguments(fleet: Fleet, host_name: str, selection: Selection) -> dict[str, Any]:
    """What `host_info` is asked for: images of the selected workloads and the paths whose room matters."""
    paths = fleet.hosts[host_name].paths
    chosen = {(one.stack, one.workload) for one in selection.on(host_name)}
    workloads = [(s.stack, name, w) for s, name, w in fleet.workloads(host_name) if (s.stack, name) in chosen]
    images = {workload.image for _, _, workload in workloads if workload.image}
    sources = {source for one in workloads for source in needed_sources(fleet, host_name, *one)}
    cards = fleet.hosts[host_name].gpus
    return {
        "images": sorted(images),
        "paths": [paths.compose, paths.conf, "/var/lib/docker"],
        "gpus": bool(cards),
        "mount_sources": sorted(sources),
        "gpu_ids": [gpu.uuid for gpu in cards.values() if gpu.uuid],
    }


def needed_sources(fleet: Fleet, host_name: str, stack: str, name: str, workload: Workload) -> list[str]:
    """Paths that must exist before the workload's container is made."""
    return [one.source for one in mounts_of(stack, name, workload, fleet.hosts[host_name]) if not one.create]


def missing_source_findings(fleet: Fleet, plan: DeploymentPlan, observed: Mapping[str, Any]) -> list[Finding]:
    """Workloads that the plan starts and whose mounts have no source on the host: Docker would refuse them."""
    present = observed.get("present") or {}
    found = []
    for stack in plan.stacks:
        for one in stack.workloads.values():
            if one.run != "up":
                continue
            workload = fleet.stacks[stack.stack].workloads[one.name]
            for source in needed_sources(fleet, plan.host, stack.stack, one.name, workload):
                if present.get(source) is False:
                    text = f"{one.name} mounts {source}, which does not exist on {plan.host}"
                    found.append(finding("compose.mount_source_missing", f"seat:{one.name}", text, {"path": source}))
    return found


def secrets_of(stack_name: str, every: Mapping[str, Any]) -> Mapping[str, str]:
    """Secret values of one stack out of `gpu_seats_secrets` ({stack: {NAME: value}})."""
    values = every.get(stack_name) or {}
    if not isinstance(values, Mapping):
        raise TypeError(f"gpu_seats_secrets.{stack_name}: NAME: value pairs are needed, found {type(values).__name__}")
    return {str(name): str(value) for name, value in values.items()}


def rendered_stacks(fleet: Fleet, plan: DeploymentPlan, secrets: Mapping[str, Any]) -> list[RenderedStack]:
    """Every stack of the plan. Raises KeyError for a secret without a value, ValueError for an incomplete workload."""
    return [
        render_stack(fleet, plan.host, stack, plan.device_ids, secrets_of(stack.stack, secrets))
        for stack in plan.stacks
    ]


def apply_arguments(stack: RenderedStack) -> dict[str, Any]:
    """One entry of `compose_stacks.stacks`: no secret content, no second copy of the Compose mapping."""
    data = stack.as_dict()
    del data["compose"]
    data["files"] = [_without_content(one) if one["secret"] else one for one in data["files"]]
    return data


def _without_content(file: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in file.items() if key != "content"}


def secret_files(stacks: Iterable[Mapping[str, Any]], secrets: Mapping[str, Any]) -> dict[str, str]:
    """Path -> text of every secret file of `stacks`: the one option of `compose_stacks` that no log gets.

    Ansible hides a secret inside a list of mappings only where it prints the value as it is; the system log of the
    target gets it as Python writes it, with line breaks and quotes escaped. Raises KeyError for one without a value.
    """
    files = {}
    for stack in stacks:
        values = secrets_of(str(stack["name"]), secrets)
        for one in stack["files"]:
            if one["secret"]:
                files[str(one["path"])] = env_file_text({name: values[name] for name in one["needs"]})
    return files


def retire_arguments(stack: RenderedStack, plan: StackPlan) -> dict[str, Any]:
    """`apply_arguments` with the retired services named, so that `state: absent` knows what to take away."""
    data = apply_arguments(stack)
    gone = {
        one.name: {"digest": "retired", "container": one.container, "run": "absent", "seat": None, "image": "retired"}
        for one in plan.workloads.values()
        if one.run == "absent" and one.selected
    }
    return {**data, "services": {**data["services"], **gone}}


__all__ = [
    "apply_arguments",
    "missing_source_findings",
    "observation_arguments",
    "rendered_stacks",
    "retire_arguments",
    "secret_files",
    "secrets_of",
]
