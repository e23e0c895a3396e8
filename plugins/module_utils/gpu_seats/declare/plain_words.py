"""What pydantic found, in the words of the declarations: the value as written, what is allowed, what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from .problems import Path, Problem, did_you_mean, listed
from .yaml_source import Source, is_plain, reading

_PATTERNS = {
    r"^\d+$": ('the key of a card in the host\'s file, in quotes, like "2"', ""),
    r"^[a-z0-9][a-z0-9._-]*$": ("a lower-case letter or digit, then letters, digits, dots, dashes, underscores", ""),
    r"^[a-z0-9][a-z0-9_-]*$": ("a lower-case letter or digit, then letters, digits, dashes, underscores", ""),
    r"^/": ("an absolute path", ""),
    r"^[A-Za-z0-9._/][^\s]*$": ("a name without blanks that starts with a letter or digit", ""),
    r"^[A-Za-z_][A-Za-z0-9_]*$": ("letters, digits and underscores", ""),
    r"^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$": (
        "the card's whole UUID as nvidia-smi --query-gpu=index,uuid --format=csv prints it, GPU-8-4-4-4-12",
        "",
    ),
    r"^[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$": (
        "a bus id with its domain as nvidia-smi --query-gpu=index,pci.bus_id --format=csv prints it, 00000000:01:00.0",
        "",
    ),
    r"^[a-z0-9][\w./:@-]*$": ("an image with its tag, like vllm/vllm-openai:v0.30.0", ""),
}
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "bool": "true or false",
    "list": "a list",
    "dict": "a mapping of keys",
    "model": "a mapping of keys",
    "date": "a date like 2026-09-30",
}


def problems_of(error: ValidationError, record: type[BaseModel], source: Source) -> list[Problem]:
    """One Problem for each faulty place; the branches of a union at one place become one Problem."""
    by_place: dict[tuple[Path, bool], list[Any]] = {}
    for detail in error.errors(include_url=False, include_context=True):
        missing = detail["type"] == "missing"
        path = tuple(detail["loc"]) if missing else _written_path(tuple(detail["loc"]), source.data)
        by_place.setdefault((path, missing), []).append(detail)
    return [_problem(path, details, record, source) for (path, _), details in by_place.items()]


def _written_path(loc: tuple[Any, ...], data: Any) -> Path:
    """`loc` as far as it leads through `data`: pydantic appends the branch of a union and ``[key]`` to it."""
    path: list[str | int] = []
    for part in loc:
        if not (isinstance(data, Mapping) and part in data) and not _has_item(data, part):
            break
        data = data[part]
        path.append(part)
    return tuple(path)


def _has_item(data: Any, part: Any) -> bool:
    return isinstance(data, list) and isinstance(part, int) and part < len(data)


def _problem(path: Path, details: list[Any], record: type[BaseModel], source: Source) -> Problem:
    first = details[0]
    kind = str(first["type"])
    if kind == "missing":
        return _missing(path, record, source)
    if kind == "extra_forbidden":
        return _unknown_key(path, record, source)
    if first["loc"][-1:] == ("[key]",):
        return source.problem(
            path, f"the key {path[-1]} is not a name", _allowed_of(first, None), value=False, remedy="rename it"
        )
    field = _field_at(record, path)
    remedy = ""
    if kind == "value_error":
        message = _as_written(str(first["ctx"]["error"]), first["input"], source.written(path))
        return source.problem(path, message, "", _example(field, path), value=False)
    message = f"is not {_meant(first)}" if len(details) == 1 else "is nothing that may stand here"
    allowed = listed(dict.fromkeys(_allowed_of(detail, field) for detail in details))
    remedy = _remedy(first, field, path, source)
    return source.problem(path, _with_reading(message, path, source, kind), allowed, remedy)


def _as_written(message: str, value: Any, written: str | None) -> str:
    """The message with the value as it stands in the file, where Python shows what YAML made of it (``None``)."""
    return message if isinstance(value, str) or written is None else message.replace(repr(value), written, 1)


def _missing(path: Path, record: type[BaseModel], source: Source) -> Problem:
    field = _field_at(record, path)
    what = f" ({field.description})" if field is not None and field.description else ""
    return source.problem(path, f"the key is missing{what}", _choices(field), _example(field, path, "add"), value=False)


def _unknown_key(path: Path, record: type[BaseModel], source: Source) -> Problem:
    known = _keys_at(record, path[:-1])
    name = str(path[-1])
    return source.problem(
        path, f"the key {name} is not known here", listed(known), did_you_mean(name, known), value=False
    )


def _meant(detail: Any) -> str:
    kind = str(detail["type"])
    if kind in ("literal_error", "enum"):
        return "one of the known values"
    if kind == "string_pattern_mismatch":
        return "of the allowed form"
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        return "in the allowed range"
    if kind in ("string_too_long", "string_too_short"):
        return "of the allowed length"
    if kind == "finite_number":
        return "a finite number"
    return _KINDS.get(_base_kind(kind), "what may stand here")


def _base_kind(kind: str) -> str:
    head = kind.split("_")[0]
    return "date" if head in ("date", "datetime") else head


def _allowed_of(detail: Any, field: FieldInfo | None) -> str:
    kind, ctx = str(detail["type"]), detail.get("ctx") or {}
    bounds = _bounds(field)
    if kind == "literal_error":
        return _choices(field) or re.sub(r"'([^']*)'", r"\1", str(ctx["expected"])).replace(" or ", ", ")
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(ctx["pattern"]), (f"text of the form {ctx['pattern']}", ""))[0]
    if kind in ("string_too_long", "string_too_short"):
        return f"{ctx.get('min_length', 1)} to {ctx.get('max_length', 'many')} characters"
    if _base_kind(kind) in ("int", "float") or kind.startswith(("greater", "less", "finite")):
        return bounds or _KINDS.get(_base_kind(kind), "a number in range")
    if _base_kind(kind) == "string":
        return _choices(field) or _pattern_words(field) or "text"
    return _KINDS.get(_base_kind(kind), "")


def _with_reading(message: str, path: Path, source: Source, kind: str) -> str:
    """The message with how YAML read the value, when it is not what the operator sees."""
    node = source.node(path)
    if node is None or not is_plain(node):
        return message
    how = reading(node.value, node.tag)
    if how:
        return f"{message}: {how}"
    if kind.startswith(("int", "float")) and re.match(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$", node.value):
        return f"{message}: YAML 1.1 reads {node.value} as text, YAML 1.2 as the number {float(node.value):g}"
    if kind == "string_type" and node.tag.endswith((":int", ":float", ":bool")):
        return f"{message}: YAML reads {node.value} as a {'truth value' if 'bool' in node.tag else 'number'}"
    return message


def _remedy(detail: Any, field: FieldInfo | None, path: Path, source: Source) -> str:
    kind = str(detail["type"])
    key = path[-1] if path and isinstance(path[-1], str) else None
    node = source.node(path)
    if kind == "literal_error":
        return did_you_mean(str(detail["input"]), _choice_list(field)) if isinstance(detail["input"], str) else ""
    if kind == "string_type" and node is not None and isinstance(node.value, str):
        pattern = _pattern_of(field)
        if pattern == r"^\d+$":
            return "write the card's id in quotes"
        if pattern and not re.match(pattern, node.value):
            return "write it in quotes"
        return f'write {key}: "{node.value}"' if key else f'write "{node.value}"'
    if kind == "int_type" and isinstance(detail["input"], str):
        digits = re.sub(r"\D", "", detail["input"])
        if digits and str(int(digits)) == detail["input"].strip():
            return f"write {int(digits)} without quotes"
    if kind == "list_type" and node is not None and isinstance(node.value, str):
        return f"write {key}: [{source.written(path)}]" if key else f"write [{source.written(path)}]"
    return _example(field, path)


def _example(field: FieldInfo | None, path: Path, verb: str = "for example") -> str:
    if field is None or not path or not isinstance(path[-1], str):
        return ""
    examples = field.examples or _schema_examples(field)
    return f"{verb} {path[-1]}: {examples[0]}" if examples else ""


def _schema_examples(field: FieldInfo) -> list[Any]:
    for extra in _metadata(field):
        schema = getattr(extra, "json_schema", None)
        if isinstance(schema, dict) and schema.get("examples"):
            return list(schema["examples"])
        if getattr(extra, "examples", None):
            return list(extra.examples)
    return []


def _metadata(field: FieldInfo | None) -> list[Any]:
    """Constraints of the field and of the types it may hold (``Optional[Port]`` -> those of Port)."""
    if field is None:
        return []
    found = list(field.metadata)
    pending = [field.annotation]
    while pending:
        annotation = pending.pop()
        found += getattr(annotation, "__metadata__", ())
        if hasattr(annotation, "__metadata__"):
            pending.append(get_args(annotation)[0])
        elif get_origin(annotation) in (Union, list):
            pending += get_args(annotation)
    for extra in list(found):
        found += getattr(extra, "metadata", ())  # a FieldInfo inside Annotated
    return found


def _bounds(field: FieldInfo | None) -> str:
    limits = {name: getattr(extra, name) for extra in _metadata(field) for name in _LIMITS if hasattr(extra, name)}
    if "ge" in limits and "le" in limits:
        return f"{limits['ge']} to {limits['le']}"
    return " and ".join(f"{_LIMITS[name]} {value}" for name, value in limits.items())


_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def _pattern_of(field: FieldInfo | None) -> str:
    return next((extra.pattern for extra in _metadata(field) if getattr(extra, "pattern", None)), "")


def _pattern_words(field: FieldInfo | None) -> str:
    pattern = _pattern_of(field)
    return _PATTERNS[pattern][0] if pattern in _PATTERNS else ""


def _choice_list(field: FieldInfo | None) -> list[str]:
    if field is None:
        return []
    pending, found = [field.annotation], []
    while pending:
        annotation = pending.pop(0)
        if get_origin(annotation) is Literal:
            found += [str(value) for value in get_args(annotation)]
        elif get_origin(annotation) is Union:
            pending += get_args(annotation)
    return found


def _choices(field: FieldInfo | None) -> str:
    return ", ".join(_choice_list(field))


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """The record that a field holds, directly or as an option."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is Union:
        return next((found for found in map(_record_in, get_args(annotation)) if found is not None), None)
    return None


def _step(annotation: Any, part: str | int) -> tuple[Any, FieldInfo | None]:
    """(annotation, field) one key or item below `annotation`."""
    record = _record_in(annotation)
    if record is not None:
        field = next((f for name, f in record.model_fields.items() if part in (name, f.alias)), None)
        return (field.annotation, field) if field is not None else (None, None)
    for option in get_args(annotation) if get_origin(annotation) is Union else (annotation,):
        if get_origin(option) is dict:
            return _bare(get_args(option)[1])
        if get_origin(option) is list:
            return _bare(get_args(option)[0])
    return None, None


def _bare(annotation: Any) -> tuple[Any, FieldInfo]:
    field = FieldInfo.from_annotation(annotation)
    return field.annotation, field


def _field_at(record: type[BaseModel], path: Path) -> FieldInfo | None:
    annotation: Any = record
    field: FieldInfo | None = None
    for part in path:
        annotation, field = _step(annotation, part)
    return field


def _keys_at(record: type[BaseModel], path: Path) -> list[str]:
    annotation: Any = record
    for part in path:
        annotation, _ = _step(annotation, part)
    found = _record_in(annotation)
    hidden = {"count", "device_ids"}
    return [f.alias or name for name, f in found.model_fields.items() if name not in hidden] if found else []
