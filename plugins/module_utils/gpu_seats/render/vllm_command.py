"""The command line of a vLLM seat: ``vllm serve <model> --flags``, as a list of arguments.

The image's entrypoint is ``["vllm", "serve"]``; the model is its positional argument. Flag spellings are those of the
argument parser of vLLM 0.28 to 0.33, written out in full (no abbreviations).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..declare.seat import Engram, Seat, Speculative, VllmOptions
from ..plan.kv_bytes import bytes_of_mib, engine_text
from ..plan.ports import listening_port
from ..plan.vllm_options import VLLM_PORT, runner_of, tensor_parallel_of, utilisation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_FOR_THE_ENGINE = {"engram": {"table"}, "speculative": {"mtp_layers"}}


def vllm_command(
    name: str, seat: Seat, card_total_mib: float | None, list_forms: Mapping[str, str] | None = None
) -> list[str]:
    """Arguments of seat `name`; `card_total_mib` is the smallest total of its cards (None without a card).

    `list_forms` (spelling -> ``append``, ``json`` or ``many``, by the version's parser) tells how a list is written;
    without it the values follow the flag in one go.
    Raises ValueError for a seat without a model.
    """
    options = seat.vllm or VllmOptions()
    model = seat.model.path or seat.model.repo
    if model is None:
        raise ValueError(f"seat {name}: model.path and model.repo are both missing; give one")
    command = [model, "--served-model-name", seat.model.served_name or name]
    if seat.model.path is None and seat.model.revision is not None:
        command += ["--revision", seat.model.revision]
    for flag, value in _own_options(seat, options, card_total_mib):
        command += _flag(flag, value, "many")
    for flag in sorted(options.flags):
        spelled = "--" + flag
        command += _flag(spelled, options.flags[flag], (list_forms or {}).get(spelled, "many"))
    return command


def _own_options(seat: Seat, options: VllmOptions, card_total_mib: float | None) -> list[tuple[str, Any]]:
    """(flag, value) of what has a key of its own, in the order of the command line; None is left out."""
    listens_on = listening_port(seat)
    kv = None if options.kv_cache_memory is None else engine_text(bytes_of_mib(options.kv_cache_memory))
    return [
        ("--port", None if listens_on == VLLM_PORT else listens_on),
        ("--runner", runner_of(seat)),
        ("--max-model-len", options.max_model_len),
        ("--gpu-memory-utilization", utilisation_of(seat, card_total_mib)),
        ("--kv-cache-memory-bytes", kv),
        ("--kv-cache-dtype", options.kv_cache_dtype),
        ("--max-num-batched-tokens", options.max_num_batched_tokens),
        ("--max-num-seqs", options.max_num_seqs),
        ("--tensor-parallel-size", tensor_parallel_of(seat)),
        ("--quantization", options.quantization),
        ("--engram-config", _engine_mapping("engram", options.engram)),
        ("--speculative-config", _engine_mapping("speculative", options.speculative)),
        ("--hf-overrides", options.hf_overrides),
        ("--enforce-eager", options.enforce_eager or None),
    ]


def _engine_mapping(kind: str, record: Engram | Speculative | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return record.model_dump(exclude=_NOT_FOR_THE_ENGINE[kind], exclude_none=True)


def _flag(spelled: str, value: Any, list_form: str) -> list[str]:
    """One flag with its value: true is the bare flag, false its ``--no-`` form, a mapping is JSON, None is nothing."""
    if value is None:
        return []
    if value is True:
        return [spelled]
    if value is False:
        return ["--no-" + spelled[2:]]
    if isinstance(value, list) and list_form == "append":
        return [part for item in value for part in _pair(spelled, str(item))]
    if isinstance(value, list) and list_form == "many":
        return [spelled, *(str(item) for item in value)]
    return _pair(spelled, _argument(value))


def _pair(spelled: str, value: str) -> list[str]:
    """Flag and value; in one argument where the value begins like a flag, which argparse would take it for."""
    return [f"{spelled}={value}"] if value.startswith("-") else [spelled, value]


def _argument(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return format(value, ".10g")
    return str(value)
