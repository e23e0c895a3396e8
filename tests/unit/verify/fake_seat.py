"""A seat in memory: what `docker inspect` shows of its container, and a real HTTP server behind its port."""

from __future__ import annotations

import contextlib
import datetime
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gpu_seats.verify.seat_probe import Outside
from gpu_seats.verify.seat_steps import seat_check

CARD = "GPU-5e7a0002-c0de-4000-8000-000000000002"
LISTING = f"GPU 0: NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition (UUID: {CARD})\n"
DIGEST = "d1"


class FakeEngine:
    """Answers inspect, logs and exec of one container. data None: there is no such container."""

    def __init__(self, data, log="", listing=(0, LISTING)):
        self.data = data
        self.log = log
        self.earlier_log = ""
        self.listing = listing
        self.made_s = time.time()
        self.age_at_first_s = _age_s(data) if data else 0.0
        self.executed = 0

    def inspect(self, container):
        return self.data

    def logs(self, container, tail=400, limit_s=10.0, since=0.0):
        started_s = self.made_s - self.age_at_first_s
        assert since <= started_s, "the log is asked for from its start on, however long the look has taken"
        return self.log if since else self.earlier_log + self.log

    def execute(self, container, command, limit_s=15.0):
        self.executed += 1
        if isinstance(self.listing, Exception):
            raise self.listing
        return self.listing


def _age_s(data):
    started = datetime.datetime.fromisoformat(data["State"]["StartedAt"][:19] + "+00:00")
    return time.time() - started.timestamp()


def container(port=8022, status="running", published=True, age_s=30.0, **more):
    """`docker inspect` of a seat's container that was started `age_s` seconds ago."""
    started = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age_s)
    wanted = {"8000/tcp": [{"HostIp": "", "HostPort": str(port)}]}
    return {
        "Id": "c" * 64,
        "Name": "/vllm-x",
        "Image": "sha256:1",
        "RestartCount": more.get("restarts", 0),
        "State": {
            "Status": status,
            "ExitCode": more.get("exit_code", 0),
            "Error": more.get("error", ""),
            "StartedAt": started.strftime("%Y-%m-%dT%H:%M:%S.123456789Z"),
            "Health": {"Status": "healthy"},
        },
        "Config": {"Image": "vllm:1", "Labels": {"gpu-seats.digest": DIGEST, **more.get("labels", {})}},
        "HostConfig": {"NetworkMode": more.get("network", "x_default"), "PortBindings": wanted},
        "NetworkSettings": {
            "Ports": wanted if published else {},
            "Networks": {"x_default": {"IPAddress": "127.0.0.1"}},
        },
    }


def check(port=8022, **more):
    data = {
        "seat": "x",
        "container": "vllm-x",
        "engine": "vllm",
        "task": "chat",
        "address": "127.0.0.1",
        "port": port,
        "container_port": 8000,
        "gpus": [CARD],
        "served_name": "model-x",
        "health_path": "/health",
        "digest": DIGEST,
        "timeouts": {"container": 5, "load": 100, "port": 2, "health": 1, "completion": 0.4},
    }
    return seat_check({**data, **more})


def outside(engine):
    return Outside(engine, reach=lambda _declared: "127.0.0.1")


@contextlib.contextmanager
def served(answers):
    """A server on a free loopback port. answers: {path: (status, body)}; a callable body is called with the request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(None)

        def do_POST(self):
            self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        def answer(self, request):
            self.server.asked.append((self.command, self.path, self.headers.get("Content-Type", ""), request))
            status, body = answers.get(self.path, (404, {"detail": "Not Found"}))
            body = body(request) if callable(body) else body
            if status is None:
                self.connection.close()
                return
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            with contextlib.suppress(ConnectionError):  # the other side stopped waiting
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        def log_message(self, *_arguments):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.asked = []
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


CHAT = {"choices": [{"message": {"role": "assistant", "content": "ready"}}], "usage": {"completion_tokens": 1}}
WELL = {
    "/health": (200, b""),
    "/v1/models": (200, {"object": "list", "data": [{"id": "model-x"}]}),
    "/v1/chat/completions": (200, CHAT),
}


def sleeps(seconds):
    def body(_request):
        time.sleep(seconds)
        return CHAT

    return body


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
