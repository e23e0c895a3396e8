"""Protects: load by requests keeps a seat busy with texts that no cache answers, and a seat that does not answer is
told instead of counted as load."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gpu_seats.apply.power_measure import seat_load
from gpu_seats.apply.power_measure.seat_load import Answers, load_requests, load_seats


class Seat(ThreadingHTTPServer):
    """Answers like an engine, or refuses; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, status=200):
        self.status, self.bodies, self.most, self.now = status, [], 0, 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def told(self):
        return {"seat": "chat", "cards": ["0"], "port": self.server_address[1], "task": "chat", "served_name": "m"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.bodies.append((self.path, json.loads(body)))
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
        threading.Event().wait(0.05)
        with self.server.lock:
            self.server.now -= 1
        text = b'{"choices": [{"message": {"content": "1"}}]}'
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        return


def test_many_at_once_with_texts_that_differ():
    seat = Seat()
    threading.Thread(target=load_seats, args=({"seats": [seat.told], "requests": 4},), daemon=True).start()
    for _ in range(200):
        if len(seat.bodies) >= 20:
            break
        threading.Event().wait(0.05)
    seat.shutdown()
    assert len(seat.bodies) >= 20 and seat.most >= 3
    prompts = [body["messages"][0]["content"] for _, body in seat.bodies]
    assert len(set(prompts)) == len(prompts)
    assert {(path, body["model"], body["ignore_eos"]) for path, body in seat.bodies} == {
        ("/v1/chat/completions", "m", True)
    }


def test_a_seat_that_refuses_is_no_load(monkeypatch, capsys):
    monkeypatch.setattr(seat_load, "_REFUSED_S", 0.5)
    seat = Seat(status=503)
    assert load_seats({"seats": [seat.told], "requests": 2}) == 3
    assert "chat: no good answer for" in (said := capsys.readouterr().out) and "HTTP 503" in said
    seat.shutdown()


def test_a_seat_that_is_not_there_and_one_that_has_no_requests(monkeypatch, capsys):
    monkeypatch.setattr(seat_load, "_REFUSED_S", 0.3)
    gone = {"seat": "gone", "cards": ["0"], "port": 1, "task": "chat", "served_name": "m"}
    assert load_seats({"seats": [gone], "requests": 1}) == 3 and "refused" in capsys.readouterr().out
    assert load_seats({"seats": [{**gone, "task": "none"}], "requests": 1}) == 3
    assert "can't be loaded by requests" in capsys.readouterr().out


def test_long_answers_are_awaited_longer_than_refusals():
    working = Answers(last_good=0.0)
    assert not working.is_silent(60.0) and working.is_silent(121.0)
    assert Answers("refused", last_good=0.0).is_silent(21.0)


@pytest.mark.parametrize("task", ["chat", "completion", "embedding", "rerank", "reward", "transcription"])
def test_every_task_has_requests(task):
    requests = load_requests(task, "m", 1)
    assert requests and all(one.path.startswith("/") and one.body for one in requests)
