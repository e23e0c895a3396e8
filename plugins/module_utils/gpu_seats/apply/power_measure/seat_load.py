"""Load by requests: every seat of a card is asked many things at once, until this process is ended."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...verify.http_answer import Answer, ask
from ...verify.real_request import RealRequest, is_other_path_wanted, real_requests

_ADDRESS = "127.0.0.1"
_REQUEST_LIMIT_S = 120.0
_REFUSED_S = 20.0
"""A seat that has only refused for this long is no load; one that works on long answers may be silent for longer."""
_PAUSE_S = 0.5
_TOKENS = 512
_WORDS = 400


@dataclass
class Answers:
    """What came back of one seat."""

    last_problem: str = ""
    last_good: float = field(default_factory=time.monotonic)

    def is_silent(self, now: float) -> bool:
        """Whether this is no load any more. last_problem is of after the last good answer, empty if none came."""
        return now - self.last_good > (_REFUSED_S if self.last_problem else _REQUEST_LIMIT_S)


def load_seats(argument: Any) -> int:
    """Ask `argument["seats"]` (seat, port, task, served_name) with `argument["requests"]` threads each.

    Ends only when a seat does not answer, with 3 and the reason printed: the keeper of the load ends it otherwise.
    """
    seats, threads = argument["seats"], int(argument["requests"])
    heard = {str(seat["seat"]): Answers() for seat in seats}
    for seat in seats:
        if not load_requests(str(seat["task"]), str(seat["served_name"]), 0):
            print(f"{seat['seat']}: a seat of task {seat['task']} can't be loaded by requests", flush=True)
            return 3
        for number in range(threads):
            asking = threading.Thread(target=_ask_on, args=(seat, number, heard[str(seat["seat"])]), daemon=True)
            asking.start()
    while True:
        time.sleep(1.0)
        now = time.monotonic()
        silent = [(name, one) for name, one in heard.items() if one.is_silent(now)]
        for name, one in silent:
            asked_s = now - one.last_good
            print(f"{name}: no good answer for {asked_s:.0f} s: {one.last_problem or 'nothing came'}", flush=True)
        if silent:
            return 3


def load_requests(task: str, served_name: str, number: int) -> list[RealRequest]:
    """Requests that keep a card busy. Texts differ by `number`: a prefix cache would answer the same one at once."""
    words = " ".join(f"{(number * 7919 + n * 104729) % 99991}" for n in range(_WORDS))
    if task == "chat":
        messages = [{"role": "user", "content": f"Go on with this row of numbers, without an end: {words}"}]
        return [_json("chat", "/v1/chat/completions", served_name, messages=messages, **_long())]
    if task == "completion":
        return [_json("completion", "/v1/completions", served_name, prompt=words, **_long())]
    if task == "embedding":
        return [_json("embedding", "/v1/embeddings", served_name, input=words)]
    return real_requests(task, served_name)


def _long() -> dict[str, Any]:
    return {"max_tokens": _TOKENS, "ignore_eos": True, "temperature": 1.0}


def _json(kind: str, path: str, model: str, **fields: Any) -> RealRequest:
    return RealRequest(kind, path, "application/json", json.dumps({"model": model, **fields}).encode("utf-8"))


def _ask_on(seat: Mapping[str, Any], thread: int, heard: Answers) -> None:
    number = thread
    while True:
        number += 1009
        answer = _asked(seat, load_requests(str(seat["task"]), str(seat["served_name"]), number))
        if answer.ok:
            heard.last_good, heard.last_problem = time.monotonic(), ""
        else:
            heard.last_problem = answer.in_short(200)
            time.sleep(_PAUSE_S)


def _asked(seat: Mapping[str, Any], requests: list[RealRequest]) -> Answer:
    answer = Answer("unreachable")
    for one in requests:
        headers = {"Content-Type": one.content_type}
        answer = ask(_ADDRESS, int(seat["port"]), "POST", one.path, _REQUEST_LIMIT_S, one.body, headers)
        if not is_other_path_wanted(answer):
            break
    return answer


__all__ = ["Answers", "load_requests", "load_seats"]
