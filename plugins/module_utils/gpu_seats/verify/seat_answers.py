"""Does a seat answer: health, the served name, one real request. Each try has its own limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..findings import Finding, finding
from .http_answer import Answer, ask
from .real_request import answer_problem, is_other_path_wanted, real_requests
from .seat_steps import SeatCheck, Step

Ask = Callable[..., Answer]
_LOADING_STATUSES = (502, 503, 504)


def health_step(check: SeatCheck, address: str, loading_s: float, ask_once: Ask = ask) -> tuple[Step, list[Finding]]:
    """The step `health`. vLLM refuses connections while it loads, llama.cpp answers 503 ``Loading model``.

    loading_s: how long the container has been up; beyond the load limit waiting has failed.
    """
    if not check.health_path or check.port is None:
        return Step("health", "skipped", "has no health address"), []
    answer = ask_once(address, check.port, "GET", check.health_path, check.limits.health)
    where = f"http://{address}:{check.port}{check.health_path}"
    if answer.ok:
        return Step("health", "ok", f"HTTP {answer.status}", answer.elapsed_s), []
    text = f"{where}: {answer.in_short(120)}"
    facts = {"url": where, "answer": answer.in_short()}
    if answer.outcome == "answered" and answer.status not in _LOADING_STATUSES:
        return Step("health", "failed", text, answer.elapsed_s), [finding("seat.unhealthy", check.subject, text, facts)]
    if loading_s < check.limits.load:
        silent = answer.outcome == "timeout"
        return Step("health", "waiting", _waiting_text(answer), answer.elapsed_s, silent), []
    late = f"not ready {loading_s:.0f} s after its container started (limit {check.limits.load:.0f} s): {text}"
    return Step("health", "failed", late, answer.elapsed_s), [finding("seat.load_timeout", check.subject, late, facts)]


def model_step(check: SeatCheck, address: str, ask_once: Ask = ask) -> tuple[Step, list[Finding]]:
    """The step `model`: the declared name is among those that the engine serves."""
    if check.task == "none" or not check.served_name or check.port is None:
        return Step("model", "skipped", "serves no model"), []
    answer = ask_once(address, check.port, "GET", "/v1/models", check.limits.health)
    if answer.outcome == "answered" and answer.status in (404, 405) and check.engine not in ("vllm", "llamacpp"):
        return Step("model", "skipped", "the engine does not list its models", answer.elapsed_s), []
    if answer.outcome == "answered" and answer.status in (401, 403):
        return _needs_key(check, "model", answer)
    names = _names(answer)
    if check.served_name in names:
        return Step("model", "ok", f"serves {check.served_name}", answer.elapsed_s), []
    if not answer.ok:
        text = f"/v1/models: {answer.in_short(120)}"
        found = finding("seat.no_model_list", check.subject, text, {"answer": answer.in_short()})
    else:
        text = f"serves {', '.join(names) or 'no model'}, {check.served_name} is declared"
        facts = {"served": names, "wanted": check.served_name}
        found = finding("seat.wrong_model_name", check.subject, text, facts)
    return Step("model", "failed", text, answer.elapsed_s), [found]


def completion_step(check: SeatCheck, address: str, ask_once: Ask = ask) -> tuple[Step, list[Finding]]:
    """The step `completion`: one real request of the seat's task gives a real answer."""
    if check.port is None or check.task == "none":
        return Step("completion", "skipped", "serves no model"), []
    answer, kind, path = Answer("unreachable"), "", ""
    for request in real_requests(check.task, check.served_name or check.seat):
        headers = {"Content-Type": request.content_type}
        kind, path = request.kind, request.path
        answer = ask_once(address, check.port, "POST", path, check.limits.completion, request.body, headers)
        if not is_other_path_wanted(answer):
            break
    if answer.outcome == "answered" and answer.status in (401, 403):
        return _needs_key(check, "completion", answer)
    problem = answer_problem(kind, answer)
    if not problem:
        return Step("completion", "ok", f"a {kind} came back from {path}", answer.elapsed_s), []
    text = f"POST {path}: {problem}"
    code = "seat.hangs" if answer.outcome == "timeout" else "seat.completion_failed"
    facts = {"path": path, "answer": answer.in_short(600), "limit_s": check.limits.completion}
    return Step("completion", "failed", text, answer.elapsed_s), [finding(code, check.subject, text, facts)]


def _needs_key(check: SeatCheck, step: str, answer: Answer) -> tuple[Step, list[Finding]]:
    text = f"the engine asks for a key: {answer.in_short(120)}"
    return Step(step, "failed", text, answer.elapsed_s), [finding("seat.needs_key", check.subject, text)]


def _waiting_text(answer: Answer) -> str:
    if answer.outcome == "refused":
        return "nobody listens inside yet"
    if answer.outcome == "closed":
        return "the port is open, nobody answers inside yet"
    return answer.in_short(80)


def _names(answer: Answer) -> list[str]:
    data: Any = answer.json() if answer.ok else None
    rows = data.get("data") if isinstance(data, dict) else None
    return [str(row["id"]) for row in rows or [] if isinstance(row, dict) and row.get("id")]


__all__ = ["completion_step", "health_step", "model_step"]
