"""Docker Engine's HTTP API over its unix socket, with a time limit on every call.

Plain `http.client` and not the Docker SDK: importing the SDK costs more than all requests of an unchanged run
together, and the SDK of Debian 12 does not know the API versions of Engine 29. Paths carry no version, so the engine
answers with its own; only fields that Engine 20.10 to 29 all have are used.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import quote, urlencode

DEFAULT_SOCKET = "/var/run/docker.sock"
CALL_LIMIT_S = 20.0
MOST_BYTES = 16 * 2**20
"""Of one answer. What a container prints without an end must not fill the host's memory."""
_LOG_FRAME_HEADER_BYTES = 8


class EngineUnreachableError(Exception):
    """The engine gives no answer. reason: no_socket, refused, permission, timeout, protocol."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class EngineRefusedError(Exception):
    """The engine answered with an error. status: HTTP status, message: its own words."""

    def __init__(self, status: int, message: str, call: str) -> None:
        self.status = status
        self.message = message
        self.call = call
        super().__init__(f"{call}: HTTP {status}: {message}")


class Engine(Protocol):
    """What a run needs of Docker's API (`engine_api.EngineApi`)."""

    def containers(self) -> list[dict[str, Any]]: ...
    def inspect(self, container: str) -> dict[str, Any] | None: ...
    def image(self, name: str) -> dict[str, Any] | None: ...
    def start(self, container: str, limit_s: float = ...) -> None: ...
    def unpause(self, container: str) -> None: ...
    def stop(self, container: str, grace_s: int = ...) -> None: ...
    def remove(self, container: str) -> None: ...


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str, limit_s: float) -> None:
        super().__init__("docker", timeout=limit_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class EngineApi:
    """Requests to one engine. Threads may share it: each has its own connection, kept open between calls."""

    def __init__(self, socket_path: str = DEFAULT_SOCKET, limit_s: float = CALL_LIMIT_S) -> None:
        self.socket_path = socket_path
        self.limit_s = limit_s
        self._own = threading.local()

    def get(self, path: str, limit_s: float | None = None, **query: Any) -> Any:
        return self._json("GET", path, query, None, limit_s)

    def post(self, path: str, body: Any = None, limit_s: float | None = None, **query: Any) -> Any:
        return self._json("POST", path, query, body, limit_s)

    def delete(self, path: str, limit_s: float | None = None, **query: Any) -> Any:
        return self._json("DELETE", path, query, None, limit_s)

    def containers(self) -> list[dict[str, Any]]:
        """Every container of the host, running or not, as the engine lists them."""
        listed = self.get("/containers/json", all="1")
        return [dict(row) for row in listed or []]

    def inspect(self, container: str) -> dict[str, Any] | None:
        """What `docker inspect` shows of one container; None if there is none (any more)."""
        return self._found("/containers/{}/json".format(quote(container, safe="")))

    def image(self, name: str) -> dict[str, Any] | None:
        """What `docker image inspect` shows; None if the host does not have the image."""
        return self._found("/images/{}/json".format(quote(name, safe="/:@")))

    def info(self) -> dict[str, Any]:
        return dict(self.get("/info") or {})

    def start(self, container: str, limit_s: float = 60.0) -> None:
        self.post("/containers/{}/start".format(quote(container, safe="")), limit_s=limit_s)

    def unpause(self, container: str) -> None:
        self.post("/containers/{}/unpause".format(quote(container, safe="")))

    def stop(self, container: str, grace_s: int = 30) -> None:
        """SIGTERM, after `grace_s` SIGKILL. Takes at most that plus the call's limit, else EngineUnreachableError."""
        self.post("/containers/{}/stop".format(quote(container, safe="")), limit_s=grace_s + self.limit_s, t=grace_s)

    def restart(self, container: str, grace_s: int = 30) -> None:
        """Stop as `stop` does, then start. Takes at most the grace and 60 s more, else EngineUnreachableError."""
        self.post("/containers/{}/restart".format(quote(container, safe="")), limit_s=grace_s + 60.0, t=grace_s)

    def remove(self, container: str) -> None:
        """Remove a stopped container; its volumes stay. Gone already is success."""
        try:
            self.delete("/containers/{}".format(quote(container, safe="")), limit_s=60.0)
        except EngineRefusedError as refused:
            if refused.status != 404:
                raise

    def logs(self, container: str, tail: int = 400, limit_s: float = 10.0, since: float = 0.0) -> str:
        """The last `tail` lines of stdout and stderr, as they came; since: only those after it (seconds, Unix time)."""
        path = "/containers/{}/logs".format(quote(container, safe=""))
        query = {"stdout": "1", "stderr": "1", "tail": str(tail), "since": f"{since:.3f}" if since else "0"}
        _status, headers, raw = self._call("GET", path, query, None, limit_s)
        if "raw-stream" in headers.get("content-type", ""):
            return raw.decode("utf-8", "replace")
        return b"".join(_log_frames(raw)).decode("utf-8", "replace")

    def execute(self, container: str, command: list[str], limit_s: float = 15.0) -> tuple[int | None, str]:
        """Run a command in a running container: exit code (None: not told) and its output, stdout and stderr together.

        Raises EngineUnreachableError (reason timeout) if it does not end in time; the command then still runs inside.
        """
        body = {"AttachStdout": True, "AttachStderr": True, "Tty": False, "Cmd": command}
        made = self.post("/containers/{}/exec".format(quote(container, safe="")), body)
        path = "/exec/{}".format(made["Id"])
        _status, _headers, raw = self._call("POST", path + "/start", {}, {"Detach": False, "Tty": False}, limit_s)
        output = b"".join(_log_frames(raw)).decode("utf-8", "replace")
        code = (self.get(path + "/json") or {}).get("ExitCode")
        return (int(code) if code is not None else None), output

    def _found(self, path: str) -> dict[str, Any] | None:
        try:
            return dict(self.get(path))
        except EngineRefusedError as refused:
            if refused.status == 404:
                return None
            raise

    def _json(self, method: str, path: str, query: dict[str, Any], body: Any, limit_s: float | None) -> Any:
        _status, _headers, raw = self._call(method, path, query, body, limit_s)
        if not raw.strip():
            return None
        try:
            return json.loads(raw)
        except ValueError as error:
            raise EngineUnreachableError("protocol", f"{method} {path}: the answer is not JSON") from error

    def _call(
        self, method: str, path: str, query: dict[str, Any], body: Any, limit_s: float | None
    ) -> tuple[int, dict[str, str], bytes]:
        url = path + ("?" + urlencode(query) if query else "")
        payload = None if body is None else json.dumps(body).encode("utf-8")
        headers = {"Content-Type": "application/json"} if payload is not None else {}
        limit = self.limit_s if limit_s is None else limit_s
        call = f"{method} {path}"
        status, answered, raw = self._answer(method, url, payload, headers, limit, call)
        if status >= 400:
            raise EngineRefusedError(status, _error_text(raw), call)
        return status, answered, raw

    def _answer(
        self, method: str, url: str, payload: bytes | None, headers: dict[str, str], limit: float, call: str
    ) -> tuple[int, dict[str, str], bytes]:
        deadline = time.monotonic() + limit
        kept: _SocketConnection | None = getattr(self._own, "connection", None)
        self._own.connection = None
        try:
            if kept is not None and kept.sock is not None:
                kept.sock.settimeout(limit)
                # the engine may have closed what was kept open: once more on a new connection then
                with contextlib.suppress(ConnectionError, http.client.HTTPException):
                    return self._exchange(kept, method, url, payload, headers, deadline)
            return self._exchange(self._connected(limit), method, url, payload, headers, deadline)
        except socket.timeout as error:
            raise EngineUnreachableError(
                "timeout", f"{call}: Docker Engine gave no answer within {limit:g} s"
            ) from error
        except (ConnectionError, http.client.HTTPException) as error:
            raise EngineUnreachableError("protocol", f"{call}: {error or type(error).__name__}") from error

    def _exchange(
        self,
        connection: _SocketConnection,
        method: str,
        url: str,
        payload: bytes | None,
        headers: dict[str, str],
        deadline: float,
    ) -> tuple[int, dict[str, str], bytes]:
        connection.request(method, url, body=payload, headers=headers)
        response = connection.getresponse()
        raw = _read_whole(response, deadline)
        if len(raw) >= MOST_BYTES:
            connection.close()
        else:
            self._own.connection = None if response.will_close else connection
        return response.status, {name.lower(): value for name, value in response.getheaders()}, raw

    def _connected(self, limit_s: float) -> _SocketConnection:
        connection = _SocketConnection(self.socket_path, limit_s)
        try:
            connection.connect()
        except FileNotFoundError as error:
            raise EngineUnreachableError("no_socket", f"{self.socket_path} is not there") from error
        except ConnectionRefusedError as error:
            raise EngineUnreachableError("refused", f"nobody listens on {self.socket_path}") from error
        except PermissionError as error:
            raise EngineUnreachableError("permission", f"no permission for {self.socket_path}") from error
        return connection


def _read_whole(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The body, cut at `MOST_BYTES`. A socket's own limit starts anew with every byte, so the total is limited here."""
    whole = bytearray()
    while True:
        part = response.read1(65536)
        whole += part
        if not part or len(whole) >= MOST_BYTES:
            return bytes(whole)
        if time.monotonic() > deadline:
            raise socket.timeout("still sending at the limit")


def _error_text(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:500]


def _log_frames(raw: bytes) -> Iterator[bytes]:
    """Payloads of Docker's multiplexed stream: 1 byte stream, 3 bytes zero, 4 bytes length (big endian), payload."""
    position = 0
    while position + _LOG_FRAME_HEADER_BYTES <= len(raw):
        (length,) = struct.unpack(">I", raw[position + 4 : position + 8])
        position += _LOG_FRAME_HEADER_BYTES
        yield raw[position : position + length]
        position += length


__all__ = ["CALL_LIMIT_S", "DEFAULT_SOCKET", "Engine", "EngineApi", "EngineRefusedError", "EngineUnreachableError"]
