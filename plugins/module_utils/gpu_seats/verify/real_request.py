"""One real request for each kind of seat, and whether its answer is one."""

from __future__ import annotations

import io
import json
import math
import struct
import wave
from dataclasses import dataclass
from typing import Any

from .http_answer import Answer

_BOUNDARY = "gpu-seats-0f9d2c"
_WAV_RATE_HZ = 16000
_WAV_S = 0.5


@dataclass(frozen=True)
class RealRequest:
    """path, content type and body of a POST. kind: what its answer must hold, see `answer_problem`."""

    kind: str
    path: str
    content_type: str
    body: bytes


def real_requests(task: str, served_name: str) -> list[RealRequest]:
    """Requests that prove a seat of `task`, in the order to try: the next one where an engine has no such path.

    Empty for task ``none``.
    """
    if task == "chat":
        messages = [{"role": "user", "content": "Answer with the word ready."}]
        return [_json("chat", "/v1/chat/completions", served_name, messages=messages, max_tokens=16, temperature=0)]
    if task == "completion":
        return [_json("completion", "/v1/completions", served_name, prompt="ready", max_tokens=8, temperature=0)]
    if task == "embedding":
        return [_json("embedding", "/v1/embeddings", served_name, input="ready")]
    if task == "rerank":
        question = {"query": "Which word means ready?", "documents": ["prepared", "asleep"]}
        return [_json("rerank", path, served_name, **question) for path in ("/v1/rerank", "/rerank")]
    if task == "reward":
        text = "Question: is it ready? Answer: yes."
        return [
            _json("classify", "/classify", served_name, input=text),
            _json("pooling", "/pooling", served_name, input=text),
        ]
    if task == "transcription":
        return [RealRequest("transcription", "/v1/audio/transcriptions", *_multipart(served_name))]
    return []


def is_other_path_wanted(answer: Answer) -> bool:
    """The engine has no such path, or not for this model: the next request is worth a try."""
    return answer.outcome == "answered" and answer.status in (400, 404, 405, 501)


def answer_problem(kind: str, answer: Answer) -> str:
    """Why `answer` is none, "" if it is one."""
    if not answer.ok:
        return answer.in_short()
    data = answer.json()
    if not isinstance(data, dict):
        return f"the answer is no JSON object: {answer.in_short(120)}"
    if _holds(kind, data):
        return ""
    return f"the answer holds no {kind}: {answer.in_short(200)}"


def _holds(kind: str, data: dict[str, Any]) -> bool:
    if kind == "chat":
        message = _mapping(_first(data, "choices").get("message"))
        return _generated(data, message, ("content", "reasoning_content", "reasoning"))
    if kind == "completion":
        return _generated(data, _first(data, "choices"), ("text",))
    if kind == "embedding":
        return _is_vector(_first(data, "data").get("embedding"))
    if kind == "rerank":
        rows = data.get("results") or data.get("data")
        return isinstance(rows, list) and len(rows) == 2 and all(_has_score(_mapping(row)) for row in rows)
    if kind == "classify":
        return _is_vector(_first(data, "data").get("probs"), zeros=True)
    if kind == "pooling":
        return _is_nested_vector(_first(data, "data").get("data"))
    return isinstance(data.get("text"), str)  # of half a second of tone, an empty transcript is right


def _generated(data: dict[str, Any], choice: dict[str, Any], keys: tuple[str, ...]) -> bool:
    """Text, or tokens counted: a reasoning model may spend all of a short limit on what it does not show."""
    if any(isinstance(choice.get(key), str) and choice[key].strip() for key in keys):
        return True
    produced = _mapping(data.get("usage")).get("completion_tokens")
    return bool(data.get("choices")) and isinstance(produced, int) and produced > 0


def _has_score(row: dict[str, Any]) -> bool:
    return any(_is_number(row.get(key)) for key in ("relevance_score", "score"))


def _is_vector(value: Any, zeros: bool = False) -> bool:
    """Finite numbers; all zero is what a broken pooler gives."""
    if not isinstance(value, list) or not value or not all(_is_number(one) for one in value):
        return False
    return zeros or any(one != 0 for one in value)


def _is_nested_vector(value: Any) -> bool:
    while isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return _is_number(value) or _is_vector(value, zeros=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _first(data: dict[str, Any], key: str) -> dict[str, Any]:
    rows = data.get(key)
    return _mapping(rows[0]) if isinstance(rows, list) and rows else {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json(kind: str, path: str, model: str, **fields: Any) -> RealRequest:
    return RealRequest(kind, path, "application/json", json.dumps({"model": model, **fields}).encode("utf-8"))


def _multipart(model: str) -> tuple[str, bytes]:
    parts = [
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\n{model}\r\n'.encode(),
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="response_format"\r\n\r\njson\r\n'.encode(),
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="tone.wav"\r\n'.encode(),
        b"Content-Type: audio/wav\r\n\r\n",
        tone_wav(),
        f"\r\n--{_BOUNDARY}--\r\n".encode(),
    ]
    return f"multipart/form-data; boundary={_BOUNDARY}", b"".join(parts)


def tone_wav() -> bytes:
    """Half a second of a quiet 440 Hz tone, 16 kHz mono PCM."""
    count = int(_WAV_RATE_HZ * _WAV_S)
    samples = [int(3000 * math.sin(2 * math.pi * 440 * n / _WAV_RATE_HZ)) for n in range(count)]
    stream = io.BytesIO()
    with wave.open(stream, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(_WAV_RATE_HZ)
        out.writeframes(struct.pack(f"<{count}h", *samples))
    return stream.getvalue()


__all__ = ["RealRequest", "answer_problem", "is_other_path_wanted", "real_requests", "tone_wav"]
