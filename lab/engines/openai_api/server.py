"""The HTTP server of the engine simulators: routes, model-name check, API keys, server-sent events."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

from . import replies
from .replies import Json

GENERATE, EMBED, CLASSIFY, TRANSCRIBE = "generate", "embed", "classify", "transcription"


class RequestError(Exception):
    """A request that gets an error answer."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(str(body))
        self.status, self.body = status, body


@dataclass
class Counters:
    """What /metrics counts. Guarded by `lock`."""

    running: int = 0
    finished: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Engine:
    """What the server says it is.

    tasks: which kinds of route exist (`generate`, `embed`, `classify`, `transcription`). any_model: answers to every
    model name. greeting: text for all other GET paths, which are 404 without it. loading: /health is 503 meanwhile.
    on_load_change: called with the number of running requests whenever that changes.
    """

    names: list[str]
    root: str
    tasks: set[str]
    owner: str = "vllm"
    max_model_len: int | None = None
    version: str = "simulator"
    api_keys: list[str] = field(default_factory=list)
    seconds_per_token: float = 0.005
    any_model: bool = False
    greeting: str = ""
    on_load_change: Callable[[int], None] = lambda running: None
    is_hanging: Callable[[], bool] = lambda: False
    metrics: Callable[[Counters], str] = lambda counters: ""
    counters: Counters = field(default_factory=Counters)
    loading: bool = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count a request as running, and tell the card how many there are."""
        with self.counters.lock:
            self.counters.running += 1
            self.on_load_change(self.counters.running)
        try:
            yield
        finally:
            with self.counters.lock:
                self.counters.running -= 1
                self.counters.finished += 1
                self.on_load_change(self.counters.running)

    def checked_model(self, request: Json) -> str:
        """The served name that the request asks for (the first one when it names none)."""
        name = request.get("model") or self.names[0]
        if name not in self.names and not self.any_model:
            raise RequestError(404, replies.error(f"The model `{name}` does not exist.", "NotFoundError", 404, "model"))
        return str(name)

    def count(self, used: Json) -> None:
        with self.counters.lock:
            self.counters.prompt_tokens += used.get("prompt_tokens", 0)
            self.counters.generated_tokens += used.get("completion_tokens", 0)


LISTS: dict[str, tuple[str, Callable[[Json, str], Json]]] = {
    "/v1/embeddings": (EMBED, replies.embeddings),
    "/pooling": (EMBED, replies.pooling),
    "/classify": (CLASSIFY, replies.classify),
    "/score": (CLASSIFY, replies.score),
    "/v1/score": (CLASSIFY, replies.score),
    "/rerank": (CLASSIFY, replies.rerank),
    "/v1/rerank": (CLASSIFY, replies.rerank),
    "/v2/rerank": (CLASSIFY, replies.rerank),
}
TEXTS = {"/v1/chat/completions": True, "/v1/completions": False}
AUDIO = ("/v1/audio/transcriptions", "/v1/audio/translations")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EngineServer

    def do_GET(self) -> None:
        self.answered(self.get)

    def do_POST(self) -> None:
        self.answered(self.post)

    def answered(self, route: Callable[[], None]) -> None:
        """Run a route; errors become JSON answers, and a hanging engine never answers."""
        while self.server.engine.is_hanging():
            time.sleep(0.5)
        try:
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.check_key()
            if self.server.engine.loading:
                raise RequestError(503, replies.error("Loading model", "unavailable_error", 503))
            route()
        except RequestError as refusal:
            self.send_json(refusal.status, refusal.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def check_key(self) -> None:
        keys = self.server.engine.api_keys
        if keys and self.path.startswith("/v1"):
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if given not in keys:
                raise RequestError(401, {"error": "Unauthorized"})

    def get(self) -> None:
        engine, path = self.server.engine, self.path.partition("?")[0]
        if path in ("/health", "/ping"):
            self.send_body(200, b"", "text/plain")
        elif path == "/v1/models":
            body = replies.model_list(engine.names, engine.root, engine.max_model_len, engine.owner)
            self.send_json(200, body)
        elif path == "/version":
            self.send_json(200, {"version": engine.version})
        elif path == "/metrics":
            text = engine.metrics(engine.counters)
            self.send_body(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")
        elif engine.greeting:
            self.send_body(200, engine.greeting.encode(), "text/plain; charset=utf-8")
        else:
            raise RequestError(404, {"detail": "Not Found"})

    def post(self) -> None:
        engine, path = self.server.engine, self.path.partition("?")[0]
        if path in AUDIO and TRANSCRIBE in engine.tasks:
            with engine.working():
                self.send_json(200, replies.transcription())
        elif path in TEXTS and GENERATE in engine.tasks:
            self.post_text(self.request_json(), chat=TEXTS[path])
        elif path in LISTS and LISTS[path][0] in engine.tasks:
            request = self.request_json()
            model = engine.checked_model(request)
            with engine.working():
                body = self.made(LISTS[path][1], request, model)
                engine.count(body.get("usage", {}))
                self.send_json(200, body)
        else:
            raise RequestError(404, {"detail": "Not Found"})

    def request_json(self) -> Json:
        try:
            request = json.loads(self.body)
        except ValueError as error:
            raise RequestError(400, replies.error(f"JSON decode error: {error}", "BadRequestError", 400)) from None
        if not isinstance(request, dict):
            raise RequestError(400, replies.error("Input should be a valid dictionary", "BadRequestError", 400))
        return request

    def made(self, make: Callable[[Json, str], Json], request: Json, model: str) -> Json:
        try:
            return make(request, model)
        except KeyError as missing:
            name = missing.args[0]
            raise RequestError(400, replies.error(f"Field required: {name}", "BadRequestError", 400, name)) from None

    def post_text(self, request: Json, chat: bool) -> None:
        engine = self.server.engine
        needed = "messages" if chat else "prompt"
        if needed not in request:
            raise RequestError(400, replies.error(f"Field required: {needed}", "BadRequestError", 400, needed))
        model = engine.checked_model(request)
        asked = len(replies.tokens(replies.prompt_text(request)))
        if engine.max_model_len is not None and asked > engine.max_model_len:
            text = (
                f"This model's maximum context length is {engine.max_model_len} tokens. However, your request has "
                f"{asked} input tokens. Please reduce the length of the input messages."
            )
            raise RequestError(400, replies.error(text, "BadRequestError", 400))
        with engine.working():
            if request.get("stream"):
                self.send_events(replies.completion_chunks(request, model, chat))
                return
            body = replies.completion(request, model, chat)
            time.sleep(engine.seconds_per_token * body["usage"]["completion_tokens"])
            engine.count(body["usage"])
            self.send_json(200, body)

    def send_events(self, events: Iterator[Json]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.send_chunk(f"data: {json.dumps(event)}\n\n".encode())
            time.sleep(self.server.engine.seconds_per_token)
        self.send_chunk(b"data: [DONE]\n\n")
        self.send_chunk(b"")

    def send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def send_json(self, status: int, body: Json) -> None:
        self.send_body(status, json.dumps(body).encode(), "application/json")

    def send_body(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        host, port = self.client_address[:2]
        status = int(code)
        print(f'INFO:     {host}:{port} - "{self.requestline}" {status} {HTTPStatus(status).phrase}', flush=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Errors of the socket layer are no lines of an engine's log."""


class EngineServer(ThreadingHTTPServer):
    """Bound at once, so that a taken port is noticed before loading, but it listens only from `start_answering` on."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], engine: Engine) -> None:
        self.engine = engine
        super().__init__(address, Handler, bind_and_activate=False)
        self.server_bind()

    def server_bind(self) -> None:
        """Bind without the name look-up that HTTPServer adds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]

    def start_answering(self) -> None:
        self.server_activate()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
