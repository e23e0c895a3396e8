"""HTTP answers of the engine simulators have the shapes of the real ones, and say that no model made them."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from openai_api import replies
from openai_api.server import CLASSIFY, EMBED, GENERATE, TRANSCRIBE, Engine, EngineServer


@pytest.fixture
def server() -> Iterator[EngineServer]:
    tasks = {GENERATE, EMBED, CLASSIFY, TRANSCRIBE}
    engine = Engine(["flash"], "/m", tasks, max_model_len=50, seconds_per_token=0)
    running = EngineServer(("127.0.0.1", 0), engine)
    running.start_answering()
    yield running
    running.shutdown()
    running.server_close()


def call(server: EngineServer, path: str, body: object = None, key: str = "") -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", data)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def answer(server: EngineServer, path: str, body: object) -> Any:
    status, text = call(server, path, body)
    assert status == 200, text
    return json.loads(text)


def test_connections_are_refused_until_it_answers() -> None:
    loading = EngineServer(("127.0.0.1", 0), Engine([], "", set()))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", loading.server_port), timeout=2)
    with pytest.raises(OSError, match="Address already in use"):
        loading.start_answering()
        EngineServer(("127.0.0.1", loading.server_port), Engine([], "", set()))
    loading.shutdown()
    loading.server_close()


def test_chat_and_text_completion(server: EngineServer) -> None:
    chat = answer(server, "/v1/chat/completions", {"model": "flash", "messages": [{"role": "user", "content": "a b"}]})
    assert chat["object"] == "chat.completion" and chat["model"] == "flash"
    assert "simulator" in chat["choices"][0]["message"]["content"] and chat["choices"][0]["finish_reason"] == "stop"
    assert chat["usage"]["prompt_tokens"] == 2
    text = answer(server, "/v1/completions", {"model": "flash", "prompt": "a", "max_tokens": 3})
    assert len(text["choices"][0]["text"].split()) == 3 and text["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(("path", "prompt"), [("/v1/chat/completions", "messages"), ("/v1/completions", "prompt")])
def test_stream_is_server_sent_events_that_end_with_done(server: EngineServer, path: str, prompt: str) -> None:
    content: object = [{"role": "user", "content": "a"}] if prompt == "messages" else "a"
    request = {"model": "flash", prompt: content, "stream": True, "stream_options": {"include_usage": True}}
    lines = call(server, path, request)[1].decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    parts = [e["choices"][0].get("text", e["choices"][0].get("delta", {}).get("content")) for e in events[:-1]]
    assert "".join(parts) == replies.SENTENCE
    assert [e["choices"][0]["finish_reason"] for e in events[:-1]][-1] == "stop"
    assert events[-1]["choices"] == [] and events[-1]["usage"]["completion_tokens"] > 0
    assert len({e["id"] for e in events}) == 1


def test_wrong_model_name_wrong_body_and_too_long_prompt(server: EngineServer) -> None:
    status, body = call(server, "/v1/completions", {"model": "other", "prompt": "a"})
    assert status == 404 and json.loads(body)["error"]["message"] == "The model `other` does not exist."
    assert call(server, "/v1/chat/completions", {"model": "flash"})[0] == 400
    assert call(server, "/v1/completions", {"model": "flash", "prompt": "a " * 51})[0] == 400
    assert call(server, "/nothing")[0] == 404


def test_pooling_routes(server: EngineServer) -> None:
    vectors = answer(server, "/v1/embeddings", {"model": "flash", "input": ["a", "b", "a"]})["data"]
    assert [v["index"] for v in vectors] == [0, 1, 2] and vectors[0]["embedding"] == vectors[2]["embedding"]
    for path in ("/rerank", "/v1/rerank"):
        ranked = answer(server, path, {"model": "flash", "query": "q", "documents": ["x", "y"], "top_n": 1})
        assert len(ranked["results"]) == 1 and 0 <= ranked["results"][0]["relevance_score"] <= 1
    assert len(answer(server, "/score", {"text_1": "a", "text_2": ["b", "c"]})["data"]) == 2
    assert sum(answer(server, "/classify", {"input": "a"})["data"][0]["probs"]) == pytest.approx(1)
    assert len(answer(server, "/pooling", {"input": "a"})["data"]) == 1


def test_routes_of_other_tasks_do_not_exist(server: EngineServer) -> None:
    server.engine.tasks = {EMBED}
    assert call(server, "/v1/chat/completions", {"messages": []})[0] == 404
    assert call(server, "/rerank", {"query": "q", "documents": []})[0] == 404


def test_api_key_guards_the_api_and_not_health(server: EngineServer) -> None:
    server.engine.api_keys = ["secret"]
    assert call(server, "/health")[0] == 200
    assert call(server, "/v1/models")[0] == 401
    assert call(server, "/v1/models", key="secret")[0] == 200


def test_card_is_told_while_a_request_runs(server: EngineServer) -> None:
    seen: list[int] = []
    server.engine.on_load_change = seen.append
    answer(server, "/v1/completions", {"prompt": "a"})
    deadline = time.monotonic() + 5
    while len(seen) < 2 and time.monotonic() < deadline:  # the last byte is out before the request has ended
        time.sleep(0.01)
    assert seen == [1, 0]
    assert server.engine.counters.running == 0 and server.engine.counters.finished == 1


def test_health_is_503_while_a_llama_server_loads(server: EngineServer) -> None:
    server.engine.loading = True
    status, body = call(server, "/health")
    assert status == 503 and json.loads(body)["error"]["message"] == "Loading model"


def test_hanging_engine_accepts_and_never_answers(server: EngineServer) -> None:
    server.engine.is_hanging = lambda: True
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=2) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        server.engine.is_hanging = lambda: False
        connection.settimeout(5)
        assert connection.recv(12) == b"HTTP/1.1 200"  # its log line is out before the next test looks at output
