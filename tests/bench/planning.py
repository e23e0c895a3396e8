"""A large fleet made in memory, and how long planning all of it takes."""

from __future__ import annotations

import time

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Gpu, Host
from gpu_seats.declare.seat import Seat
from gpu_seats.declare.selection import select
from gpu_seats.declare.site import Site
from gpu_seats.declare.stack import Stack
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.plan.fleet_plan import plan_fleet

CARDS = 4
VRAM_MIB = 97887.0


def fleet_of(hosts: int, seats_per_host: int) -> Fleet:
    """`hosts` of four cards with `seats_per_host` vLLM seats each, spread over the cards and fitting them."""
    made_hosts, stacks = {}, {}
    for number in range(hosts):
        host = f"h{number:05}"
        gpus = {str(card): _card(number, card) for card in range(CARDS)}
        made_hosts[host] = Host(host=host, site="one", summary="bench", address="192.0.2.1", ram=1048576.0, gpus=gpus)
        for at in range(seats_per_host):
            stack = _stack(host, at, seats_per_host)
            stacks[stack.stack] = stack
    return Fleet({"one": Site(site="one", summary="bench")}, made_hosts, stacks, {})


def _card(host: int, card: int) -> Gpu:
    uuid = f"GPU-{host:08x}-0000-4000-8000-{card:012x}"
    return Gpu(model="Card", vram=VRAM_MIB, uuid=uuid, bus_id=f"00000000:{card:02x}:00.0")


def _stack(host: str, at: int, seats_per_host: int) -> Stack:
    on_one_card = -(-seats_per_host // CARDS)
    seat = {
        "state": "serving",
        "engine": "vllm",
        "image": "vllm/vllm-openai:v0.30.0",
        "model": {"path": f"/models/m{at}"},
        "gpus": [str(at % CARDS)],
        "port": 10000 + at,
        "vllm": {"gpu_memory_utilization": round(0.9 / on_one_card, 4), "max_model_len": 8192},
    }
    name = f"{host}-{at}"
    return Stack(stack=f"{name}-seat", host=host, summary="bench", seats={name: Seat.model_validate(seat)})


def planning_seconds(hosts: int, seats_per_host: int) -> float:
    """CPU time of planning the whole fleet (its checks, and a deployment of everything on every host).

    It runs in one thread, and other load of the machine does not count. The time to make the fleet is left out.
    Raises ValueError for a fleet with errors.
    """
    fleet = fleet_of(hosts, seats_per_host)
    begun = time.process_time()
    found = plan_fleet(fleet)
    selection = select(fleet, "all")
    for host in fleet.hosts:
        plan_deployment(fleet, host, selection)
    seconds = time.process_time() - begun
    failing = [one for one in found if one.fails]
    if failing:
        raise ValueError(f"the fleet of the bench is meant to fit: {failing[0].message}")
    return seconds
