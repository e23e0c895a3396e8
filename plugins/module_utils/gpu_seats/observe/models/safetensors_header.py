"""The header of a safetensors file: eight bytes of length, then JSON with type, shape and place of every tensor."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..jsontext import as_list, as_mapping
from ..records import Record
from .pointers import error_page, lfs_pointer

_MAX_HEADER_BYTES = 100_000_000
"""The format's own limit."""
_LENGTH_BYTES = 8
_GROUPS = (
    ("n-gram table", re.compile(r"\b(?:ple|ngram|n_gram|engram|embed_tokens_per_layer|per_layer_embed\w*)\b")),
    ("routed experts", re.compile(r"\bexperts\.|\.mlp\.experts\b|moe\.experts|block_sparse_moe")),
    ("embeddings", re.compile(r"embed_tokens|lm_head|word_embeddings|\bwte\b")),
    ("vision", re.compile(r"\b(?:vision|visual|image)\w*\b")),
)


@dataclass(frozen=True)
class SafetensorsHeader(Record):
    """Bytes by tensor type (``BF16``, ``F8_E4M3``, ``U8`` ...) and by group of tensors, as the header gives them.

    file_size_bytes None where only the header was read. data_bytes is what the tensors need after the header.
    """

    kind: ClassVar[str] = "safetensors_header"
    file: str
    tensor_count: int
    data_bytes: int
    header_bytes: int
    bytes_by_type: dict[str, int]
    bytes_by_group: dict[str, dict[str, int]]
    file_size_bytes: int | None = None
    metadata: dict[str, str] = field(default_factory=dict)


def header_from_bytes(
    data: bytes, name: str, file_size_bytes: int | None = None
) -> tuple[SafetensorsHeader | None, list[Finding]]:
    """(header, findings) of the first bytes of a file; the header is None where it can't be read.

    `data` holds at least the whole header. A file that is shorter than its header says is a finding.
    """
    subject = f"file:{name}"
    text = data[:1024].decode("utf-8", errors="replace")
    stand_in = lfs_pointer(text, subject) or error_page(text, subject)
    if stand_in is not None:
        return None, [stand_in]
    if len(data) < _LENGTH_BYTES:
        return None, [_damaged(subject, f"{len(data)} bytes are too few for a header")]
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    if length > _MAX_HEADER_BYTES:
        return None, [_damaged(subject, f"a header of {length} bytes is not possible: this is no safetensors file")]
    body = data[_LENGTH_BYTES : _LENGTH_BYTES + length]
    if len(body) < length:
        return None, [_damaged(subject, f"the header of {length} bytes stops after {len(body)}")]
    try:
        said = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return None, [_damaged(subject, f"the header is no JSON: {error}")]
    header = _header(as_mapping(said), name, length, file_size_bytes)
    wanted = _LENGTH_BYTES + length + header.data_bytes
    if file_size_bytes is not None and file_size_bytes < wanted:
        return header, [_damaged(subject, f"the file has {file_size_bytes} of {wanted} bytes: it is cut")]
    return header, []


def _damaged(subject: str, problem: str) -> Finding:
    return finding("model.weights_damaged", subject, problem)


def group_of(tensor: str) -> str:
    """What a tensor belongs to, by its name: n-gram table, routed experts, embeddings, vision, other."""
    return next((group for group, pattern in _GROUPS if pattern.search(tensor)), "other")


def _header(said: dict[str, Any], name: str, length: int, size: int | None) -> SafetensorsHeader:
    by_type: dict[str, int] = {}
    by_group: dict[str, dict[str, int]] = {}
    end, count = 0, 0
    for tensor, facts in said.items():
        if tensor == "__metadata__":
            continue
        offsets = [one for one in as_list(as_mapping(facts).get("data_offsets")) if isinstance(one, int)]
        held = max(0, offsets[1] - offsets[0]) if len(offsets) == 2 else 0
        end, count = max([end, *offsets]), count + 1
        kind = str(as_mapping(facts).get("dtype") or "unknown")
        by_type[kind] = by_type.get(kind, 0) + held
        group = by_group.setdefault(group_of(tensor), {})
        group[kind] = group.get(kind, 0) + held
    metadata = {str(key): str(value)[:200] for key, value in as_mapping(said.get("__metadata__")).items()}
    return SafetensorsHeader(name, count, end, length, by_type, by_group, size, metadata)


def read_header(path: Path) -> tuple[SafetensorsHeader | None, list[Finding]]:
    """The header of a file on disk; reads no weights. A file that can't be opened is a finding."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(_LENGTH_BYTES)
            length = int.from_bytes(data, "little")
            data += file.read(min(length, _MAX_HEADER_BYTES) if len(data) == _LENGTH_BYTES else 0)
    except OSError as error:
        return None, [finding("model.unreadable", f"file:{path.name}", f"can't be read: {error.strerror or error}")]
    return header_from_bytes(data, path.name, size)


def composition(headers: list[SafetensorsHeader]) -> dict[str, dict[str, int]]:
    """Bytes of a whole checkpoint by group and type, largest group first.

    >>> composition([])
    {}
    """
    total: dict[str, dict[str, int]] = {}
    for header in headers:
        for group, kinds in header.bytes_by_group.items():
            held = total.setdefault(group, {})
            for kind, size in kinds.items():
                held[kind] = held.get(kind, 0) + size
    return dict(sorted(total.items(), key=lambda item: -sum(item[1].values())))
