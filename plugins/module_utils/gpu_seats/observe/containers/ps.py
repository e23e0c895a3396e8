"""``docker ps`` and ``docker compose ps``: JSON list, JSON lines, or the table for people."""

from __future__ import annotations

import json
import re
from typing import Any

from ...findings import Finding, finding
from ..compose.failures import classify
from ..compose.warnings import take_warnings
from ..jsontext import as_int, as_mapping, as_text, read_json, truncated
from ..records import Parsed, first_line, unrecognised, with_reasons
from .ports import ports_column, publishers
from .records import ContainerSummary

_COLUMNS = (
    "CONTAINER ID|IMAGE|COMMAND|CREATED|STATUS|PORTS|NAMES|NAME|SERVICE|SIZE|LABELS|MOUNTS|NETWORKS|LOCAL VOLUMES|STATE"
    "|RUNNING FOR|Name|Command|State|Ports"
)
_HEADER = re.compile(rf"^\s*(?:{_COLUMNS})(?:\s{{2,}}(?:{_COLUMNS}))+\s*$")
_CELL = re.compile(rf"(?:{_COLUMNS})(?=\s|$)")
_EXITED = re.compile(r"\b(?:Exited|Exit|Restarting|Dead)\s*\(?(?P<code>\d{1,3})\)?")
_HEALTH = re.compile(r"\((?:health: )?(?P<health>healthy|unhealthy|starting)\)")
_STATES = ("Up", "Exited", "Restarting", "Created", "Paused", "Dead", "Removal", "Removing", "Exit", "running")
_LABEL = re.compile(r"^[A-Za-z0-9][\w./-]*=")


def parse_docker_ps(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """One summary a container. Nothing printed with exit code 0 means that nothing runs."""
    warnings, lines = take_warnings(text)
    body = "\n".join(lines)
    parsed = Parsed([], list(warnings))
    stripped = body.strip()
    if not stripped or stripped == "null":
        if rc in (None, 0):
            parsed.notes.append("no container is listed")
        else:
            parsed.findings.append(
                finding("command.failed", "tool:docker-ps", f"docker ps ended with {rc} and no text", {"rc": rc})
            )
        return parsed
    if stripped.startswith("["):
        return parsed.add(_from_list(body))
    if stripped.startswith("{"):
        return parsed.add(_from_lines(lines))
    header = next((number for number, line in enumerate(lines) if _HEADER.match(line)), None)
    if header is not None:
        return parsed.add(_from_table(lines[header], lines[header + 1 :]))
    failures = classify(body)
    parsed.findings.extend(failures or [unrecognised("docker-ps", body, rc)])
    return parsed


def _from_list(body: str) -> Parsed:
    said = read_json(body)
    parsed = Parsed()
    if said.problem:
        parsed.findings.append(truncated("docker-ps", body, said.problem))
    for row in said.value if isinstance(said.value, list) else []:
        parsed.add(_summary(as_mapping(row)))
    if not parsed.records and not parsed.findings:
        parsed.notes.append("no container is listed")
    return parsed.add(Parsed([], classify(said.after)))


def _from_lines(lines: list[str]) -> Parsed:
    """One object a line; a line that is cut is a finding, the others count. One object over several lines too."""
    parsed, broken = Parsed(), list[str]()
    for line in (one for one in lines if one.strip()):
        row = _json_row(line) if line.lstrip().startswith("{") else None
        if row is None:
            broken.append(line)
        else:
            parsed.add(_summary(row))
    if broken and not parsed.records:
        said = read_json("\n".join(lines))
        if isinstance(said.value, dict) and not said.problem:
            return _summary(said.value)
    if broken:
        failures = classify("\n".join(broken))
        cut = [one for one in broken if one.lstrip().startswith("{")]
        parsed.findings.extend(failures)
        if cut or not failures:
            parsed.findings.append(
                truncated("docker-ps", "\n".join(broken), f"{len(broken)} line(s) are no whole object")
            )
    return parsed


def _json_row(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def split_labels(text: str) -> dict[str, str]:
    """Labels of the form ``a=1,b=x, y,c=2``: a piece that is no ``key=`` belongs to the value before it."""
    labels: dict[str, str] = {}
    last = ""
    for piece in text.split(","):
        if _LABEL.match(piece):
            last, _, labels[last] = _partition(piece)
        elif last:
            labels[last] += "," + piece
        elif piece.strip():
            last, labels[piece] = piece, ""
    return labels


def _partition(piece: str) -> tuple[str, str, str]:
    return piece.partition("=")


def _summary(row: dict[str, Any]) -> Parsed:
    printed = row.get("Labels")
    labels = (
        split_labels(printed) if isinstance(printed, str) else {str(k): str(v) for k, v in as_mapping(printed).items()}
    )
    status = as_text(row.get("Status"))
    if "Publishers" in row:
        published, exposed = publishers(row.get("Publishers"))
    else:
        published, exposed = ports_column(as_text(row.get("Ports")) or "")
    health = as_text(row.get("Health")) or _health_of(status)
    code = as_int(row.get("ExitCode"))
    summary = ContainerSummary(
        id=as_text(row.get("ID")) or as_text(row.get("Id")),
        name=as_text(row.get("Name")) or (as_text(row.get("Names")) or "").split(",")[0].lstrip("/") or None,
        project=as_text(row.get("Project")) or labels.get("com.docker.compose.project"),
        service=as_text(row.get("Service")) or labels.get("com.docker.compose.service"),
        image=as_text(row.get("Image")),
        state=as_text(row.get("State")) or _state_of(status),
        health=health,
        exit_code=code if code is not None else _code_of(status),
        status=status,
        published_ports=published,
        exposed_ports=exposed,
        labels=labels,
    )
    return _with_findings(summary)


def _with_findings(summary: ContainerSummary) -> Parsed:
    record = with_reasons(
        summary, {"health": "no health check, or none shown", "exit_code": "not shown"}, "not in this output"
    )
    return Parsed([record], _findings(record))


def _findings(summary: ContainerSummary) -> list[Finding]:
    subject = f"container:{summary.name or (summary.id or 'unknown')}"
    evidence = {"state": summary.state, "status": summary.status, "exit_code": summary.exit_code}
    if summary.state == "restarting":
        return [
            finding("container.restart_loop", subject, f"the container is restarting: {summary.status or ''}", evidence)
        ]
    if summary.state == "dead":
        return [finding("container.dead", subject, "the container is dead", evidence)]
    if summary.state == "exited" and summary.exit_code not in (0, 143, None):
        return [finding("container.exited", subject, f"exited with code {summary.exit_code}", evidence)]
    if summary.health == "unhealthy" and summary.state == "running":
        return [finding("container.unhealthy", subject, "the health check fails", evidence)]
    if summary.state == "paused":
        return [finding("container.paused", subject, "the container is paused", evidence)]
    return []


def _health_of(status: str | None) -> str | None:
    match = _HEALTH.search(status or "")
    return match.group("health") if match else None


def _code_of(status: str | None) -> int | None:
    match = _EXITED.search(status or "")
    return int(match.group("code")) if match else None


def _state_of(status: str | None) -> str | None:
    """The state word of a status such as ``Up 4 minutes (healthy)``."""
    text = (status or "").strip()
    if text.startswith("Up"):
        return "paused" if "(Paused)" in text else "running"
    for word, state in (("Exit", "exited"), ("Restarting", "restarting"), ("Created", "created"), ("Dead", "dead")):
        if text.startswith(word):
            return state
    return "removing" if text.startswith(("Removal", "Removing")) else (text.split()[0].lower() if text else None)


def _from_table(header: str, lines: list[str]) -> Parsed:
    """Rows by the columns of the header: docker pads every column to one width."""
    starts = [(match.group(0), match.start()) for match in _CELL.finditer(header)]
    parsed = Parsed()
    centred = header[:1].isspace()
    for line in (one for one in lines if one.strip() and not re.match(r"^-{5,}\s*$", one)):
        ends = [start for _, start in starts[1:]] + [len(line)]
        row = {name.upper(): line[start:end].strip() for (name, start), end in zip(starts, ends)}
        if centred:  # docker-compose 1 centres its header over columns that stand elsewhere
            row = dict(zip((name.upper() for name, _ in starts), re.split(r"\s{2,}", line.strip())))
        status, ports = row.get("STATUS") or row.get("STATE") or "", row.get("PORTS", "")
        published, exposed = ports_column(ports)
        cut = not centred and any(end < len(line) and not line[end - 1].isspace() for end in ends[:-1])
        cut = cut or ("->" in ports and not published)
        if cut or not status.startswith(_STATES):
            message = f"a row does not fit its header: {first_line(line, 100)!r}"
            parsed.findings.append(finding("parse.row_malformed", "tool:docker-ps", message, {"row": first_line(line)}))
            continue
        parsed.add(
            _with_findings(
                ContainerSummary(
                    id=row.get("CONTAINER ID") or None,
                    name=row.get("NAMES") or row.get("NAME") or None,
                    service=row.get("SERVICE") or None,
                    image=row.get("IMAGE") or None,
                    state=_state_of(status),
                    health=_health_of(status),
                    exit_code=_code_of(status),
                    status=status,
                    published_ports=published,
                    exposed_ports=exposed,
                )
            )
        )
    if not parsed.records and not parsed.findings:
        parsed.notes.append("no container is listed")
    return parsed
