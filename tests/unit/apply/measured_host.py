"""A host for measurements without one: a clock, cards that draw when they are loaded, a keeper, a file in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_seats.apply.power_measure.ladder_run import LadderRun
from gpu_seats.apply.power_measure.load_keeper import LoadEnd
from gpu_seats.apply.power_measure.log_file import LogFileError
from gpu_seats.apply.power_measure.plan import MeasurePlan, measure_plan
from gpu_seats.observe.power_log import log_line, read_power_log, time_text

UUIDS = [f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(4)]


def plan_data(cards: int = 2, **more: Any) -> dict[str, Any]:
    """Steps 0 to `cards`, one card more at each."""
    names = [str(n) for n in range(cards)]
    return {
        "host": "fv-ml1",
        "folder": "/tank/gpu-seats/power",
        "cards": [{"card": n, "uuid": UUIDS[int(n)], "cap_watts": 275.0} for n in names],
        "steps": [{"number": n, "cards": names[:n], "nominal_watts": None} for n in range(cards + 1)],
        "load": {"command": ["burn", "{uuid}"]},
        "limits": {"stop_at_watts": 1770.0, "machine_watts": 400.0, "floor_watts": 313.0, "loss_factor": 1.1},
        "times": {"every_s": 3, "settle_s": 6, "hold_s": 12, "lease_s": 120},
        **more,
    }


class FakeHost:
    """Everything LadderRun is given. events: what happened, in order: ("start", name), ("stop",), ("write", kind)."""

    def __init__(self, plan: MeasurePlan | None = None) -> None:
        self.plan = plan or measure_plan(plan_data())
        self.now = 1_800_000_000.0
        self.events: list[tuple[str, ...]] = []
        self.loaded: list[str] = []
        self.content = b""
        self.ends: list[LoadEnd] = []
        self.bmc_watts: Callable[[float], float | None] = lambda cards: cards + 400.0
        self.draw_watts: Callable[[str, bool], float | None] = lambda uuid, loaded: 270.0 if loaded else 10.0
        self.limit_watts: Callable[[str], float | None] = lambda uuid: 275.0
        self.before_sample: Callable[[FakeHost], None] = lambda host: None
        self.fails_to_write: Callable[[dict[str, Any]], bool] = lambda record: False
        self.stops = True
        self.word_held, self.age = "", 0.0
        self.told_to_end = False

    # the lease
    def word(self) -> str:
        return self.word_held

    def age_s(self) -> float:
        return self.age

    # the keeper
    def start(self, name: str, argv: list[str], limit_s: float) -> None:
        self.events.append(("start", name))
        self.loaded.append(argv[-1])

    def start_task(self, name: str, task: str, argument: Any, limit_s: float) -> None:
        self.events.append(("start", name))
        for seat in argument["seats"]:
            self.loaded += [self.plan.card(card).uuid for card in seat["cards"]]

    def ended(self) -> list[LoadEnd]:
        ended, self.ends = self.ends, []
        return ended

    def stop_all(self) -> bool:
        self.events.append(("stop",))
        if self.stops:
            self.loaded.clear()
        return self.stops

    # the sampler
    def sample(self, **more: Any) -> dict[str, Any]:
        self.before_sample(self)
        draws = {one.uuid: self.draw_watts(one.uuid, one.uuid in self.loaded) for one in self.plan.cards}
        total = None if None in draws.values() else sum(draws.values())
        return {
            "kind": "sample",
            "t": time_text(self.now),
            "cards": [{"uuid": u, "draw_watts": w, "limit_watts": self.limit_watts(u)} for u, w in draws.items()],
            "cards_watts": total,
            "bmc_watts": self.bmc_watts(total or 0.0),
            **more,
        }

    # the file
    def append(self, record: dict[str, Any]) -> None:
        if self.fails_to_write(record):
            raise LogFileError(self.plan.folder, "No space left on device")
        self.events.append(("write", str(record["kind"])))
        self.content += log_line(record)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def run(self, done: tuple[int, ...] = (), **more: Any) -> Any:
        head = {"kind": "run", "t": time_text(self.now), "key": self.plan.key, "host": self.plan.host}
        self.append({**head, "plan": self.plan.as_dict()})
        clock: Any = {"clock": lambda: self.now, "sleep": self.sleep, "wall": lambda: self.now}
        more = {"is_ended": lambda: self.told_to_end, **clock, **more}
        return LadderRun(self.plan, self, self, self, self, done, **more).run()  # type: ignore[arg-type]

    @property
    def log(self) -> Any:
        return read_power_log(self.content)
