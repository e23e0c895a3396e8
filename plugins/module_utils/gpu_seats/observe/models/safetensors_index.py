"""``model.safetensors.index.json``: which shards a checkpoint has and how large it says it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..jsontext import as_int, as_mapping, read_json, truncated
from ..records import Parsed, Record, unrecognised, with_reasons
from .pointers import error_page, lfs_pointer

_SUBJECT = "file:model.safetensors.index.json"
_NUMBERED = re.compile(r"-(?P<number>\d{1,6})-of-(?P<count>\d{1,6})\.")
_SCALE = re.compile(r"(?:weight_scale|_scale_inv|weight_packed|input_scale|qweight|qzeros|scales)$|\.scale$")


@dataclass(frozen=True)
class SafetensorsIndex(Record):
    """total_size_bytes and total_parameters None where the index does not say. shards: file -> tensors named in it.

    expected_shards: N of ``-of-N``, None where files are not numbered. scale_tensors: names that only quantised
    weights have.
    """

    kind: ClassVar[str] = "safetensors_index"
    total_size_bytes: int | None
    total_parameters: int | None
    tensor_count: int
    shards: dict[str, int]
    expected_shards: int | None
    scale_tensors: int
    unknown: dict[str, str] = field(default_factory=dict)


def parse_safetensors_index(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """The index as one record; a pointer, an error page or unnamed shards as findings."""
    stand_in = lfs_pointer(text, _SUBJECT) or error_page(text, _SUBJECT)
    if stand_in is not None:
        return Parsed([], [stand_in])
    said = read_json(text)
    if said.problem:
        return Parsed([], [truncated("safetensors-index", text, said.problem)])
    weights = as_mapping(said.value).get("weight_map")
    if not isinstance(weights, dict):
        return Parsed([], [unrecognised("safetensors-index", text, rc)])
    index = _index(as_mapping(as_mapping(said.value).get("metadata")), weights)
    return Parsed([index], _findings(index, weights))


def _index(metadata: dict[str, Any], weights: dict[str, Any]) -> SafetensorsIndex:
    shards: dict[str, int] = {}
    for name in weights.values():
        if isinstance(name, str):
            shards[name] = shards.get(name, 0) + 1
    counts = {int(match.group("count")) for name in shards if (match := _NUMBERED.search(name))}
    size = as_int(metadata.get("total_size")) or None
    index = SafetensorsIndex(
        total_size_bytes=size,
        total_parameters=as_int(metadata.get("total_parameters")),
        tensor_count=len(weights),
        shards=dict(sorted(shards.items())),
        expected_shards=counts.pop() if len(counts) == 1 else None,
        scale_tensors=sum(1 for name in weights if _SCALE.search(str(name))),
    )
    return with_reasons(
        index,
        {"expected_shards": "the files are not numbered", "total_size_bytes": "0 or nothing in the index"},
        "not in the index",
    )


def _findings(index: SafetensorsIndex, weights: dict[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    if not weights:
        found.append(finding("model.index_empty", _SUBJECT, "the index names no tensor"))
    wrong = [name for name, file in weights.items() if not isinstance(file, str)]
    if wrong:
        message = f"{len(wrong)} tensor(s) name no file, first {wrong[0]}"
        found.append(finding("model.index_damaged", _SUBJECT, message, {"tensors": len(wrong)}))
    outside = [name for name in index.shards if "/" in name or "\\" in name or name.startswith("..")]
    if outside:
        message = f"the index points out of its directory: {outside[0]}"
        found.append(finding("model.index_damaged", _SUBJECT, message, {"files": outside[:5]}))
    expected = index.expected_shards
    numbered = sum(1 for name in index.shards if _NUMBERED.search(name))
    if expected is not None and numbered < expected:
        message = f"the index names {numbered} of {expected} shards"
        evidence = {"named": numbered, "expected": expected}
        found.append(finding("model.shards_unnamed", _SUBJECT, message, evidence))
    return found


def missing_shards(index: SafetensorsIndex, files: dict[str, int]) -> list[Finding]:
    """Findings for shards that the index names and `files` (name -> size in bytes) does not have, or has too small."""
    missing = [name for name in index.shards if name not in files]
    found = []
    if missing:
        message = f"{len(missing)} shard(s) are missing, first {missing[0]}"
        found.append(finding("model.shard_missing", _SUBJECT, message, {"missing": missing[:20]}))
    small = [name for name in index.shards if 0 <= files.get(name, -1) < 1024]
    if small:
        first = f"{small[0]} with {files[small[0]]} bytes"
        message = f"{len(small)} shard(s) are tiny, first {first}: pointers or a broken download"
        found.append(finding("model.lfs_pointer", _SUBJECT, message, {"files": small[:20]}))
    return found
