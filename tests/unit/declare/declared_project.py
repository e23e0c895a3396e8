"""A small project on disk whose one seat uses every kind of key, and how a test spoils it."""

from __future__ import annotations

from pathlib import Path

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.problems import DeclarationError, Problem

STACK_FILE = "stacks/flash-next-seat/stack.yml"
HOST_FILE = "inventories/production/host_vars/fv-ml1.yml"
SITE_FILE = "inventories/production/group_vars/site_fv.yml"

STACK = """\
stack: flash-next-seat
host: fv-ml1
summary: one seat
seats:
  flash-next:
    state: serving
    engine: vllm
    image: vllm/vllm-openai:v0.29.1rc0
    needs: [engram_cpu_offload]
    model:
      path: /tank/aimodels/flash-next
      revision: be794b99
    gpus: ["2"]
    port: 8022
    claim: {vram: 93GiB, host_ram: 67GiB}
    environment: {LEVEL: info}
    secrets: [TOKEN]
    vllm:
      max_model_len: 262144
      gpu_memory_utilization: 0.90
      kv_cache_memory: 14GiB
      engram: {cpu_offload: true}
      flags: {seed: 1}
    gateway:
      gen-large: {keys: [infra-ops], sampling: from-checkpoint}
    homepage: {group: AI seats, name: Flash-Next}
    notes:
      - {date: 2026-09-13, says: "{{ braces }} may stand in prose"}
"""

TENANT = """\
stack: blender
host: fv-ml1
summary: a tenant
services:
  blender:
    state: on_demand
    image: blender:4.5
    gpus: ["3"]
    on_demand: {yields_to: full-size, lands_on: fv-ml1/2, reason: the card is kept empty}
    ports: [{host: 3000, container: 3000}]
"""

HOST = """\
gpu_seats_host:
  host: fv-ml1
  site: fv
  summary: a host
  address: 10.251.50.54
  former_names: [10.250.50.54]
  gpus:
    "2": {model: card, vram: 97887MiB, uuid: GPU-5e7a0002-c0de-4000-8000-000000000002}
    "3":
      model: card
      vram: 97887MiB
      reserve: {full_size_from: 90GiB, tenants: on_demand, reason: kept for a big seat}
      power_limits: {min: 250W, default: 300W, max: 325W}
  power:
    baseline: {watts: 313W, standing: derived, how: what the BMC reads less the cards}
    under_load: {watts: 400W, low: 384W, high: 420W, standing: measured, date: 2026-09-19, how: a clamp meter}
    supply_loss: {reads: unknown, low: 0.08, high: 0.10, reason: nobody knows}
    caps:
      limit: 275W
      cards: {"3": 260W}
      ceiling: 300W
      reason: the circuit
some_ansible_variable: "{{ lookup('env', 'HOME') }}"
"""

SITE = """\
gpu_seats_site:
  site: fv
  summary: a site
  circuits:
    main: {kind: breaker, amps: 20, volts: 120, feeds: [fv-ml1], standing: confirmed, reason: said so}
    second: {kind: inlet, amps: 12, volts: 120, feeds: [unit], standing: derived, reason: on its label}
    unit: {kind: ups, rating_va: 1500, power_factor: 0.6, feeds: [nas], standing: assumed, reason: on its label}
  loads:
    nas: {summary: a box, watts: {watts: 60W, standing: estimate}}
"""

INVENTORY = "all: {children: {gpu_hosts: {hosts: {fv-ml1: }}, site_fv: {hosts: {fv-ml1: }}}}\n"

FILES = {
    STACK_FILE: STACK,
    "stacks/blender/stack.yml": TENANT,
    HOST_FILE: HOST,
    SITE_FILE: SITE,
    "inventories/production/hosts.yml": INVENTORY,
}


def write_project(root: Path, changed: dict[str, str] | None = None) -> Path:
    """The project below `root`, with the files of `changed` (path -> text) in place of the good ones."""
    for name, text in {**FILES, **(changed or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def spoilt(text: str, old: str, new: str) -> str:
    """`text` with `old` replaced; a test that replaces nothing would test nothing."""
    assert old in text, f"{old!r} is not in the good file"
    return text.replace(old, new, 1)


def problems(root: Path, changed: dict[str, str]) -> list[Problem]:
    """What loading the project says; empty when it loads."""
    try:
        load_fleet(write_project(root, changed))
    except DeclarationError as error:
        return error.problems
    return []
