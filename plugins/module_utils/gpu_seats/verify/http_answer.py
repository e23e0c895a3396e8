"""One HTTP request with a limit on all of it, from connect to the last byte."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BODY_LIMIT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """outcome: answered, refused, closed (the connection was accepted and dropped), timeout, unreachable.

    status and body only where answered. detail: the system's words where not.
    """

    outcome: str
    status: int = 0
    body: bytes = b""
    elapsed_s: float = 0.0
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome == "answered" and 200 <= self.status < 300

    def json(self) -> Any:
        """The body as JSON, None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def in_short(self, limit: int = 300) -> str:
        """What came back, for a message: status and start of the body, or why nothing came."""
        if self.outcome != "answered":
            return f"{self.outcome} ({self.detail})" if self.detail else self.outcome
        text = " ".join(self.body[: limit * 4].decode("utf-8", "replace").split())
        return f"HTTP {self.status} {text[:limit]}".strip()


def ask(
    address: str,
    port: int,
    method: str,
    path: str,
    limit_s: float,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Ask once. Never raises for what the other side does or does not do."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(address, port, timeout=limit_s)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        response = connection.getresponse()
        return Answer("answered", response.status, _body(response, began + limit_s), time.monotonic() - began)
    except ConnectionRefusedError as error:
        outcome, detail = "refused", error.strerror or ""
    except socket.timeout:
        outcome, detail = "timeout", f"nothing within {limit_s:g} s"
    except (ConnectionError, http.client.HTTPException) as error:
        # a userland proxy accepts for a container in which nobody listens, and drops the connection
        outcome, detail = "closed", str(error) or type(error).__name__
    except OSError as error:
        outcome, detail = "unreachable", error.strerror or str(error)
    finally:
        connection.close()
    return Answer(outcome, elapsed_s=time.monotonic() - began, detail=detail)


def _body(response: http.client.HTTPResponse, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < BODY_LIMIT_BYTES:
        part = response.read1(65536)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise socket.timeout
    return b"".join(parts)


__all__ = ["Answer", "ask"]
