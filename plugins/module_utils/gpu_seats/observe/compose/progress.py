"""Progress lines of ``docker compose up``: which containers, networks and images it touched, and how."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar

from ..records import Parsed, Record

_STATES = (
    "Creating|Created|Recreate|Recreated|Starting|Started|Running|Stopping|Stopped|Removing|Removed|Waiting|Healthy"
    "|Error|Exited|Restarting|Restarted|Killing|Killed|Skipped|Pulling|Pulled|Building|Built|Exists|Warning|Interrupted"
    "|Pausing|Paused|Unpausing|Unpaused|up-to-date"
)
_LINE = re.compile(
    r"^\s*(?:[✔✘⠀-⣿!*x]\s+)?(?:\[\+\]\s.*?)?(?P<kind>Container|Network|Volume|Image|Service)\s+\"?(?P<name>[^\s\"]+)\"?\s+"
    rf"(?P<state>{_STATES})\b(?P<rest>.*)$"
)
_V1 = re.compile(
    r"^(?P<verb>Creating|Recreating|Starting|Stopping|Removing|Restarting|Killing)\s+(?P<name>[\w][\w.-]*)\s+\.\.\.\s*(?P<result>done|error)?"
)
_V1_SAME = re.compile(r"^(?P<name>[\w][\w.-]*) is up-to-date$")
_V1_NETWORK = re.compile(r"^Creating (?P<kind>network|volume) \"(?P<name>[^\"]+)\"")
_DRY_RUN = re.compile(r"^\s*DRY-RUN MODE\s+-\s*")
_SUMMARY = re.compile(
    r"^\s*(?:\[\+\] |[✔✘⠀-⣿]\s+\S.*\s(?:Pull(?:ing|ed|\s?complete)|Download\w*|Extract\w*|Verifying\w*|Waiting"
    r"|Already exists)\b|Attaching to|Gracefully stopping|[a-z0-9][\w.-]*\s+(?:Pulling|Pulled|Skipped)\b)"
)
_V1_STATES = {"Creating": "Created", "Recreating": "Recreated", "Starting": "Started", "Stopping": "Stopped"}
_CHANGING = {"Created", "Recreate", "Recreated", "Started", "Restarted", "Removed", "Stopped", "Killed"}


@dataclass(frozen=True)
class ComposeEvent(Record):
    """What happened to one resource. states in the order printed; outcome is the last one.

    changed follows the words only: whether a container really changed shows in its id before and after.
    """

    kind: ClassVar[str] = "compose_event"
    resource: str
    name: str
    states: list[str]
    outcome: str
    changed: bool
    recreated: bool
    dry_run: bool


def take_progress(text: str) -> tuple[Parsed, list[str]]:
    """The events of all progress lines, and the lines that are none."""
    seen: dict[tuple[str, str, bool], list[str]] = {}
    rest: list[str] = []
    recognised = False
    for line in text.splitlines():
        dry_run = _DRY_RUN.match(line) is not None
        event = _event(_DRY_RUN.sub("", line))
        if event is not None:
            states = seen.setdefault((event[0], event[1], dry_run), [])
            if not states or states[-1] != event[2]:
                states.append(event[2])
        elif _SUMMARY.match(line):
            recognised = True
        else:
            rest.append(line)
    records: list[Record] = [
        ComposeEvent(
            resource=kind,
            name=name,
            states=states,
            outcome=states[-1],
            changed=bool(_CHANGING & set(states)),
            recreated=bool({"Recreate", "Recreated"} & set(states)),
            dry_run=dry_run,
        )
        for (kind, name, dry_run), states in seen.items()
    ]
    notes = ["progress of compose"] if recognised and not records else []
    return Parsed(records, [], notes), rest


def _event(line: str) -> tuple[str, str, str] | None:
    """(resource, name, state) of one progress line of Compose v1, v2 or v2 with ``--progress json``."""
    match = _LINE.match(line)
    if match:
        return match.group("kind").lower(), match.group("name"), match.group("state")
    match = _V1.match(line)
    if match:
        done = _V1_STATES.get(match.group("verb"), match.group("verb"))
        return "container", match.group("name"), "Error" if match.group("result") == "error" else done
    match = _V1_SAME.match(line)
    if match:
        return "container", match.group("name"), "Running"
    match = _V1_NETWORK.match(line)
    if match:
        return match.group("kind"), match.group("name"), "Created"
    return _json_event(line) if line.lstrip().startswith("{") else None


def _json_event(line: str) -> tuple[str, str, str] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("id"), str):
        return None
    words = said["id"].split(None, 1)
    state = said.get("text") or said.get("status")
    if len(words) == 2 and words[0] in ("Container", "Network", "Volume", "Image") and isinstance(state, str):
        return words[0].lower(), words[1].strip(), state
    return None
