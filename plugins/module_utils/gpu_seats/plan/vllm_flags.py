"""vLLM flags against the argument parser of the declared version, with the nearest flag that it has.

Tables: ``data/vllm/serve-flags-<version>.json``, one a release. A build between two releases has none of its own: it
is checked against the next release (main is nearer to it) and the previous one, and only a flag that neither knows is
refused. A flag that one of them lacks may or may not be there: a warning says so.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .kv_bytes import KvBytesError, kv_bytes
from .vllm_builds import Build, build_facts, build_of, version_key

TABLES = Path(__file__).resolve().parent.parent / "data" / "vllm"

OWN_KEYS = {
    "max-model-len": "vllm.max_model_len",
    "gpu-memory-utilization": "vllm.gpu_memory_utilization",
    "kv-cache-memory-bytes": "vllm.kv_cache_memory",
    "kv-cache-memory": "vllm.kv_cache_memory",
    "max-num-batched-tokens": "vllm.max_num_batched_tokens",
    "max-num-seqs": "vllm.max_num_seqs",
    "tensor-parallel-size": "vllm.tensor_parallel_size",
    "quantization": "vllm.quantization",
    "kv-cache-dtype": "vllm.kv_cache_dtype",
    "runner": "vllm.runner",
    "engram-config": "vllm.engram",
    "speculative-config": "vllm.speculative",
    "hf-overrides": "vllm.hf_overrides",
    "enforce-eager": "vllm.enforce_eager",
    "served-model-name": "model.served_name",
    "model": "model.path",
    "revision": "model.revision",
    "port": "container_port",
}
"""Flags that have a key of their own: the plan's arithmetic and the checks read it there."""
NEVER = {
    "api-key": "a secret on a command line is readable by everybody on the host; put VLLM_API_KEY into secrets",
    "uds": "the seat would listen on no port",
    "host": "the seat must listen on all addresses of its container; publish on one host address with ports",
    "config": "a file inside the container would hide options from the plan; write them as flags",
    "headless": "a headless engine answers no request",
    "help": "it prints a text and exits",
}


@dataclass(frozen=True)
class FlagTable:
    """Flags of one release: rows by every exact spelling."""

    version: str
    rows: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class FlagTables:
    """What a build is checked against: the nearest table first, and why these."""

    nearest: FlagTable
    other: FlagTable | None
    exact: bool
    why: str


@dataclass(frozen=True)
class FlagProblem:
    """One faulty flag. sure False: the build has no table of its own, so the engine may still take it."""

    flag: str
    message: str
    sure: bool = True


@lru_cache(maxsize=1)
def table_versions() -> tuple[str, ...]:
    """Releases that have a table, oldest first."""
    names = (path.name.removeprefix("serve-flags-").removesuffix(".json") for path in TABLES.glob("serve-flags-*.json"))
    return tuple(sorted(names, key=version_key))


@lru_cache(maxsize=16)
def flag_table(version: str) -> FlagTable:
    """The table of one release. Raises FileNotFoundError for a release without one."""
    data = json.loads((TABLES / f"serve-flags-{version}.json").read_text(encoding="utf-8"))
    return FlagTable(data["version"], {spelled: row for row in data["flags"] for spelled in row["accepted"]})


def tables_for(build: Build) -> FlagTables:
    """The table or tables that tell most about `build`."""
    versions = table_versions()
    if build.kind == "release" and build.version in versions:
        return FlagTables(flag_table(build.version), None, True, f"vLLM {build.version}")
    before, after = _neighbours(build, versions)
    if before and after:
        why = f"{build.text} stands between {before} and {after}; main after {before} is nearest to {after}"
        return FlagTables(flag_table(after), flag_table(before), False, why)
    nearest = after or before or versions[-1]
    where = f"older than {nearest}, the oldest" if after else f"newer than {nearest}, the newest"
    known = before or after
    place = where if known else f"of no known release, so it is held against {nearest}, the newest"
    why = f"{build.text or 'this image'} is {place} with a table"
    return FlagTables(flag_table(nearest), None, False, why)


def _neighbours(build: Build, versions: tuple[str, ...]) -> tuple[str | None, str | None]:
    """(newest release before the build, oldest after it); both None where its place is not known."""
    facts = build_facts()
    if build.date is not None:
        dated = [(version, facts["releases"].get(version) or "") for version in versions]
        day = build.date.isoformat()
        before = [version for version, released in dated if released <= day]
        after = [version for version, released in dated if released > day]
    elif build.version is not None:
        known = facts["main_tags"].get(build.version)
        if known is not None:
            return known["previous_release"], known["next_release"]
        release = version_key(build.version.partition("rc")[0])
        before = [version for version in versions if version_key(version) < release]
        after = [version for version in versions if version_key(version) >= release]
    else:
        return None, None
    return (before[-1] if before else None), (after[0] if after else None)


def list_form(row: dict[str, Any]) -> str:
    """How a list is written for a flag: ``append`` (flag and value each time), ``json``, else ``many`` values."""
    if row.get("action") == "append":
        return "append"
    type_ = str(row.get("type", ""))
    return "json" if row.get("nargs") != "+" and ("loads" in type_ or "json:" in type_) else "many"


@lru_cache(maxsize=64)
def list_forms(image: str) -> dict[str, str]:
    """Spelling -> `list_form` of the table nearest to `image`; render writes lists by it."""
    return {spelled: list_form(row) for spelled, row in tables_for(build_of(image)).nearest.rows.items()}


def flag_problems(
    flags: dict[str, Any], tables: FlagTables, granted: frozenset[str] = frozenset()
) -> list[FlagProblem]:
    """What is wrong with `flags` (long names without dashes -> value).

    granted: flags that the build is known to have by a feature, whatever the tables say.
    """
    return [problem for name in sorted(flags) for problem in _one_flag(name, flags[name], tables, granted)]


def _one_flag(name: str, value: Any, tables: FlagTables, granted: frozenset[str]) -> list[FlagProblem]:
    if name.startswith("-"):
        return [FlagProblem(name, f"write the flag without dashes: {name.lstrip('-')}")]
    if "_" in name or name != name.lower():
        return [FlagProblem(name, f"write it as vLLM lists it: {name.replace('_', '-').lower()}")]
    if name in OWN_KEYS:
        return [FlagProblem(name, f"has a key of its own: write {OWN_KEYS[name]}")]
    bare = name.removeprefix("no-")
    if bare in NEVER:
        return [FlagProblem(name, f"is not allowed: {NEVER[bare]}")]
    spelled = f"--{name}"
    row = tables.nearest.rows.get(spelled)
    other = tables.other.rows.get(spelled) if tables.other else None
    if row is None and other is None and spelled not in granted:
        return [FlagProblem(name, _unknown_text(spelled, tables), sure=_beyond_tables(tables) is False)]
    found = [FlagProblem(name, text) for text in _value_problems(name, value, row or other or {})]
    found += _deprecations(name, tables.nearest.version)
    if not found and not tables.exact and tables.other and (row is None) != (other is None) and spelled not in granted:
        has, lacks = (tables.nearest, tables.other) if row else (tables.other, tables.nearest)
        text = f"vLLM {has.version} has it and {lacks.version} has not; {tables.why}: it may not be there"
        found.append(FlagProblem(name, text, sure=False))
    return found


def _deprecations(name: str, version: str) -> list[FlagProblem]:
    known = build_facts()["deprecated_flags"].get(f"--{name}")
    if known is None or version_key(version) < version_key(known["since"]):
        return []
    return [FlagProblem(name, f"is deprecated since vLLM {known['since']}; see {known['instead'][2:]}", sure=False)]


def _beyond_tables(tables: FlagTables) -> bool:
    """The build is newer or older than every table, so an unknown flag may still exist."""
    return not tables.exact and tables.other is None


def _unknown_text(spelled: str, tables: FlagTables) -> str:
    where = f"is no flag of vLLM {tables.nearest.version}"
    if not tables.exact:
        where += f" ({tables.why})"
    return f"{where}; {advice}" if (advice := flag_advice(spelled, tables.nearest.rows)) else where


def flag_advice(spelled: str, rows: dict[str, dict[str, Any]]) -> str:
    """What an unknown spelling most likely means: the full form of an abbreviation, else the nearest flags."""
    longer = sorted({flag for flag in rows if flag.startswith(spelled) and flag.startswith("--")})
    if len(longer) == 1:
        return f"an abbreviation of {longer[0]}: write it out"
    if 1 < len(longer) <= 6:
        return f"an abbreviation that fits {', '.join(longer)}: write one out"
    if "." in spelled and spelled.partition(".")[0] in rows:
        return f"the dotted form is not used here: write {spelled.partition('.')[0][2:]} as a mapping"
    near = difflib.get_close_matches(spelled, [flag for flag in rows if flag.startswith("--")], n=3, cutoff=0.7)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _value_problems(name: str, value: Any, row: dict[str, Any]) -> list[str]:
    """Why the parser would refuse `value` for the flag of `row`."""
    action, type_, nargs = row.get("action", "store"), str(row.get("type", "str")), row.get("nargs")
    if action in ("boolean", "store_true"):
        return _switch_problems(name, value, row)
    if isinstance(value, bool):
        takes = "true or false is not a value" if nargs != "?" or value is False else ""
        return [f"takes a value ({type_}), and {takes}"] if takes else []
    if isinstance(value, list):
        form = list_form(row)
        if form == "many" and nargs != "+":
            return ["takes one value, not a list"]
        if not value and form != "json":
            return ["is an empty list; leave the flag out or give a value"]
        values = [] if form == "json" else value
    else:
        values = [value]
    return [text for one in values for text in _single_problems(one, type_, row.get("choices"))]


def _switch_problems(name: str, value: Any, row: dict[str, Any]) -> list[str]:
    if not isinstance(value, bool):
        return [f"is a switch: write true or false, not {value!r}"]
    if value is False and name.startswith("no-"):
        return [f"false on a no- flag says it twice over: write {name.removeprefix('no-')}: true"]
    if value is False and f"--no-{name}" not in row["accepted"]:
        return ["has no --no- form: leave it out"]
    return []


def _single_problems(value: Any, type_: str, choices: list[Any] | None) -> list[str]:
    optional = type_.startswith("optional[")
    inner = type_[9:-1] if optional else type_
    if optional and value == "None":
        return []
    if choices is not None and value not in choices and str(value) not in [str(choice) for choice in choices]:
        near = difflib.get_close_matches(str(value), [str(choice) for choice in choices], n=2, cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return [f"{value!r} is none of {', '.join(str(choice) for choice in choices if choice is not None)}{hint}"]
    return [text] if (text := _type_problem(value, inner)) else []


def _type_problem(value: Any, type_: str) -> str:
    if isinstance(value, dict):
        return "" if type_.startswith("json:") or type_ in ("loads", "union_dict_and_str") else "takes no mapping"
    text = str(value)
    if type_ == "int" and not re.fullmatch(r"[+-]?\d+", text):
        return f"{value!r} is not a whole number"
    if type_ == "float":
        try:
            float(text)
        except ValueError:
            return f"{value!r} is not a number"
    if type_.startswith("human_readable_int"):
        return _human_int_problem(text, auto=type_.endswith("_or_auto"))
    if type_ == "loads" or type_.startswith("json:"):
        return _json_problem(value, text)
    return ""


def _human_int_problem(text: str, *, auto: bool) -> str:
    if auto and text in ("auto", "-1"):
        return ""
    try:
        kv_bytes(text)
    except KvBytesError as error:
        return str(error)
    return ""


def _json_problem(value: Any, text: str) -> str:
    if not isinstance(value, str):
        return ""
    try:
        json.loads(text)
    except ValueError:
        return f"{value!r} is not JSON; write a mapping"
    return ""
