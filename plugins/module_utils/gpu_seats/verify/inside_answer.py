"""Which cards a running container sees, by ``nvidia-smi -L`` run inside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..findings import Finding
from ..observe.engine_api import EngineRefusedError, EngineUnreachableError

QUERY = ("nvidia-smi", "-L")
QUERY_LIMIT_S = 20.0


class InsideEngine(Protocol):
    """What a look inside needs of Docker's API (`observe.engine_api.EngineApi`)."""

    def execute(self, container: str, command: list[str], limit_s: float = ...) -> tuple[int | None, str]: ...


@dataclass(frozen=True)
class InsideAnswer:
    """What ``nvidia-smi -L`` said inside a container. seen: UUIDs (``index N`` for a card without one).

    absent: the container has no nvidia-smi. hung: no answer within limit_s. problems: failing findings of its text.
    """

    rc: int | None
    output: str
    absent: bool = False
    hung: bool = False
    limit_s: float = QUERY_LIMIT_S
    seen: tuple[str, ...] = ()
    problems: tuple[Finding, ...] = ()


def ask_inside(engine: InsideEngine, container: str, limit_s: float = QUERY_LIMIT_S) -> InsideAnswer:
    """Runs ``nvidia-smi -L`` in a running container; a hang of it is an answer. Raises EngineUnreachableError."""
    try:
        rc, output = engine.execute(container, list(QUERY), limit_s=limit_s)
    except EngineRefusedError as refused:
        rc, output = 127, refused.message
    except EngineUnreachableError as problem:
        if problem.reason != "timeout":
            raise
        return InsideAnswer(None, "", hung=True, limit_s=limit_s)
    return read_inside(rc, output)


def read_inside(rc: int | None, output: str) -> InsideAnswer:
    """The meaning of an exit code and output of ``nvidia-smi -L``."""
    # a host whose containers have no GPUs never needs these
    from ..observe.nvidia.cards import GpuCard
    from ..observe.nvidia.parse import parse_nvidia_smi

    if rc in (126, 127) or "executable file not found" in output or "no such file or directory" in output:
        return InsideAnswer(rc, output, absent=True)
    parsed = parse_nvidia_smi(output, rc, " ".join(QUERY))
    seen = tuple(card.uuid or f"index {card.index}" for card in parsed.of(GpuCard))
    return InsideAnswer(rc, output, seen=seen, problems=tuple(one for one in parsed.findings if one.fails))


__all__ = ["QUERY", "QUERY_LIMIT_S", "InsideAnswer", "InsideEngine", "ask_inside", "read_inside"]
