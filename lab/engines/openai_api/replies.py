"""Bodies of simulated answers: pure functions from a request's JSON to an answer's JSON."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

SENTENCE = (
    "This answer comes from the engine simulator of the gpu-seats lab: no model has read the prompt, "
    "and the words are always the same."
)
EMBEDDING_SIZE = 64


def tokens(text: str) -> list[str]:
    """Simulated tokens: words with the blank before them."""
    words = text.split()
    return [word if i == 0 else f" {word}" for i, word in enumerate(words)]


def prompt_text(request: Json) -> str:
    """All text of a completion or chat request, joined."""
    if "messages" in request:
        contents = [message.get("content") or "" for message in request["messages"]]
        parts = [c if isinstance(c, str) else " ".join(p.get("text", "") for p in c) for c in contents]
        return "\n".join(parts)
    prompt = request.get("prompt", "")
    return prompt if isinstance(prompt, str) else " ".join(str(p) for p in prompt)


def answer_tokens(request: Json) -> tuple[list[str], str]:
    """The simulated answer within max_tokens, and why it ends (`stop` or `length`)."""
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    words = tokens(SENTENCE)
    if limit is not None and limit < len(words):
        return words[:limit], "length"
    return words, "stop"


def usage(prompt: str, produced: int) -> Json:
    count = max(1, len(tokens(prompt)))
    return {"prompt_tokens": count, "completion_tokens": produced, "total_tokens": count + produced}


def identity(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex}"


def completion(request: Json, model: str, chat: bool) -> Json:
    words, reason = answer_tokens(request)
    choice: Json = {"index": 0, "logprobs": None, "finish_reason": reason, "stop_reason": None}
    if chat:
        choice["message"] = {"role": "assistant", "content": "".join(words), "tool_calls": []}
    else:
        choice["text"] = "".join(words)
    return {
        "id": identity("chatcmpl" if chat else "cmpl"),
        "object": "chat.completion" if chat else "text_completion",
        "created": int(time.time()),
        "model": model,
        "choices": [choice],
        "usage": usage(prompt_text(request), len(words)),
    }


def completion_chunks(request: Json, model: str, chat: bool) -> Iterator[Json]:
    """The same answer as stream events (without the closing `[DONE]`), usage last when it was asked for."""
    words, reason = answer_tokens(request)
    head = {
        "id": identity("chatcmpl" if chat else "cmpl"),
        "object": "chat.completion.chunk" if chat else "text_completion",
        "created": int(time.time()),
        "model": model,
    }

    def event(part: Json, finish: str | None) -> Json:
        return {**head, "choices": [{"index": 0, **part, "logprobs": None, "finish_reason": finish}]}

    if chat:
        yield event({"delta": {"role": "assistant", "content": ""}}, None)
    for i, word in enumerate(words):
        part: Json = {"delta": {"content": word}} if chat else {"text": word}
        yield event(part, reason if i == len(words) - 1 else None)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage(prompt_text(request), len(words))}


def vector(text: str, size: int = EMBEDDING_SIZE) -> list[float]:
    """A unit vector made from the text's hash: equal for equal texts, without any meaning."""
    raw = hashlib.shake_256(text.encode()).digest(size)
    numbers = [byte / 127.5 - 1 for byte in raw]
    length = sum(n * n for n in numbers) ** 0.5 or 1.0
    return [round(n / length, 6) for n in numbers]


def likeness(left: str, right: str) -> float:
    """A score between 0 and 1 made from both texts, without any meaning."""
    product = sum(a * b for a, b in zip(vector(left), vector(right)))
    return round((product + 1) / 2, 6)


def as_list(value: Any) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


def embeddings(request: Json, model: str) -> Json:
    texts = as_list(request["input"])
    size = int(request.get("dimensions") or EMBEDDING_SIZE)
    rows = [{"index": i, "object": "embedding", "embedding": vector(t, size)} for i, t in enumerate(texts)]
    return {**listing("embd", model), "data": rows, "usage": usage(" ".join(texts), 0)}


def pooling(request: Json, model: str) -> Json:
    texts = as_list(request.get("input", request.get("messages", "")))
    rows = [{"index": i, "object": "pooling", "data": [likeness(t, "reward")]} for i, t in enumerate(texts)]
    return {**listing("pool", model), "data": rows, "usage": usage(" ".join(texts), 0)}


def classify(request: Json, model: str) -> Json:
    texts = as_list(request.get("input", request.get("messages", "")))
    rows = []
    for i, text in enumerate(texts):
        chance = likeness(text, "label")
        label = "LABEL_0" if chance < 0.5 else "LABEL_1"
        rows.append({"index": i, "label": label, "probs": [1 - chance, chance], "num_classes": 2})
    return {**listing("classify", model), "data": rows, "usage": usage(" ".join(texts), 0)}


def score(request: Json, model: str) -> Json:
    left = as_list(request.get("text_1", request.get("queries", "")))
    right = as_list(request.get("text_2", request.get("documents", "")))
    pairs = [(left[i] if len(left) > 1 else left[0], text) for i, text in enumerate(right)]
    rows = [{"index": i, "object": "score", "score": likeness(a, b)} for i, (a, b) in enumerate(pairs)]
    return {**listing("score", model), "data": rows, "usage": usage(" ".join(left + right), 0)}


def rerank(request: Json, model: str) -> Json:
    query, documents = str(request["query"]), as_list(request["documents"])
    rows = [
        {"index": i, "document": {"text": text}, "relevance_score": likeness(query, text)}
        for i, text in enumerate(documents)
    ]
    rows.sort(key=lambda row: -float(row["relevance_score"]))  # type: ignore[arg-type]
    top = request.get("top_n") or len(rows)
    total = {"total_tokens": len(tokens(" ".join([query, *documents])))}
    return {"id": identity("rerank"), "model": model, "usage": total, "results": rows[:top]}


def transcription() -> Json:
    return {"text": SENTENCE, "usage": {"type": "duration", "seconds": 1}}


def listing(prefix: str, model: str) -> Json:
    return {"id": identity(prefix), "object": "list", "created": int(time.time()), "model": model}


def model_list(names: list[str], root: str, max_model_len: int | None, owner: str) -> Json:
    rows = [
        {
            "id": name,
            "object": "model",
            "created": int(time.time()),
            "owned_by": owner,
            "root": root,
            "parent": None,
            "max_model_len": max_model_len,
            "permission": [],
        }
        for name in names
    ]
    return {"object": "list", "data": rows}


def error(message: str, kind: str, code: int, param: str | None = None) -> Json:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
