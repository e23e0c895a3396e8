"""Docker's API over a real unix socket: answers, errors, streams, time limits, and a connection that was closed."""

from __future__ import annotations

import json
import socketserver
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from gpu_seats.observe import engine_api
from gpu_seats.observe.engine_api import EngineApi, EngineRefusedError, EngineUnreachableError


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, *_arguments):
        """A client that went away is part of these tests."""


def frame(stream, text):
    return bytes([stream, 0, 0, 0]) + struct.pack(">I", len(text)) + text


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "socket"

    def log_message(self, *_arguments):
        """Quiet."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def do_DELETE(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.paths.append(f"{self.command} {self.path}")
        if path == "/slow":
            time.sleep(1.5)
        if path == "/trickle":
            self.send_response(200)
            self.end_headers()
            for _ in range(30):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)
            self.close_connection = True
            return
        if path == "/exec/e2/start":
            self.send_response(200)
            self.end_headers()
            for _ in range(1000):
                self.wfile.write(frame(1, b"GPU 0\n" * 200))
            self.close_connection = True
            return
        answers = {
            "/containers/json": (200, [{"Id": "1"}]),
            "/containers/a/json": (200, {"Id": "1"}),
            "/containers/a/exec": (201, {"Id": "e1"}),
            "/containers/flood/exec": (201, {"Id": "e2"}),
            "/exec/e1/json": (200, {"ExitCode": 255}),
            "/exec/e2/json": (200, {"ExitCode": None}),
            "/exec/e1/start": (200, frame(1, b"GPU 0\n") + frame(2, b"and an error\n")),
            "/containers/a/logs": (200, frame(2, b"first\n") + frame(1, b"second\n")),
            "/containers/bad/start": (500, {"message": "driver failed programming external connectivity"}),
            "/containers/a/start": (304, b""),
            "/containers/a/stop": (204, b""),
            "/odd": (200, b"not json"),
        }
        status, body = answers.get(path, (404, {"message": "No such container: x"}))
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(raw)
        if self.server.drops:
            self.close_connection = True


@pytest.fixture
def server(tmp_path):
    with Server(str(tmp_path / "docker.sock"), Handler) as one:
        one.paths, one.drops = [], False
        threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield one
        one.shutdown()


@pytest.fixture
def engine(server):
    return EngineApi(server.server_address, limit_s=0.5)


def test_answers(engine, server):
    assert engine.containers() == [{"Id": "1"}]
    assert engine.inspect("a") == {"Id": "1"} and engine.inspect("none") is None and engine.image("x/y:1@z") is None
    assert "GET /containers/json?all=1" in server.paths and "GET /images/x/y:1@z/json" in server.paths


def test_connection_that_was_closed_meanwhile_is_made_anew(engine, server):
    server.drops = True  # ends each connection after its answer without saying so
    assert [engine.inspect("a") for _ in range(3)] == [{"Id": "1"}] * 3


def test_already_started_and_already_gone_are_success(engine):
    engine.start("a")
    engine.stop("a", grace_s=0)
    engine.remove("gone")


def test_refusal_carries_the_engines_words(engine):
    with pytest.raises(EngineRefusedError, match="driver failed programming") as caught:
        engine.start("bad")
    assert caught.value.status == 500


def test_streams_of_logs_and_exec_are_put_together(engine, server):
    assert engine.logs("a", tail=7, since=12.5) == "first\nsecond\n"
    assert "tail=7&since=12.500" in server.paths[-1]
    assert engine.execute("a", ["nvidia-smi", "-L"]) == (255, "GPU 0\nand an error\n")


def test_a_command_that_prints_without_an_end_is_cut(engine, monkeypatch):
    """Protects: the host's memory from what a container's nvidia-smi prints."""
    monkeypatch.setattr(engine_api, "MOST_BYTES", 5000)
    code, output = engine.execute("flood", ["nvidia-smi", "-L"])
    assert code is None and output.startswith("GPU 0\n") and len(output) < 5000 + 65536
    assert engine.inspect("a") == {"Id": "1"}


@pytest.mark.parametrize("path", ["/slow", "/trickle"])
def test_no_answer_and_an_answer_that_never_ends_are_timeouts(engine, path):
    began = time.monotonic()
    with pytest.raises(EngineUnreachableError) as caught:
        engine.get(path)
    assert caught.value.reason == "timeout" and time.monotonic() - began < 1.4
    assert engine.inspect("a") == {"Id": "1"}, "the next call must not read the late answer"


def test_answer_that_is_no_json(engine):
    with pytest.raises(EngineUnreachableError) as caught:
        engine.get("/odd")
    assert caught.value.reason == "protocol"


def test_no_socket_and_nobody_behind_it(tmp_path):
    with pytest.raises(EngineUnreachableError) as caught:
        EngineApi(str(tmp_path / "none.sock")).containers()
    assert caught.value.reason == "no_socket"
    Server(str(tmp_path / "dead.sock"), Handler).server_close()
    with pytest.raises(EngineUnreachableError) as caught:
        EngineApi(str(tmp_path / "dead.sock")).containers()
    assert caught.value.reason == "refused"
