"""``config.json``, ``generation_config.json`` and ``hf_quant_config.json`` of a checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..jsontext import as_int, as_list, as_mapping, as_text, read_json, truncated
from ..records import Parsed, Record, unrecognised, with_reasons
from .pointers import error_page, lfs_pointer
from .quantization import Quantization, quantization_of

_SUBJECT = "file:config.json"
_TEXT_SECTIONS = (
    "text_config",
    "llm_config",
    "language_config",
    "language_model_config",
    "thinker_config",
    "text_model",
)
_MTP_KEYS = ("mtp_num_hidden_layers", "num_nextn_predict_layers", "num_mtp_layers", "mtp_num_layers", "n_predict")
_CONTEXT_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
    "max_target_positions",
)
"""The keys that vLLM takes a context length from; speech models have max_target_positions alone."""
_EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_QUANT_KEYS = ("quantization_config", "compression_config")
"""compression_config: what compressed-tensors wrote before transformers knew it."""
_TABLE_KEY = re.compile(r"^(?:ple_|engram|ngram|n_gram)|_ngram|per_layer_(?:input|embed)", re.IGNORECASE)
_GENERATION_KEYS = ("eos_token_id", "bos_token_id", "do_sample", "_from_model_config")
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty")


@dataclass(frozen=True)
class ModelConfig(Record):
    """Facts of the language model; `section` names the key they stand under ("" for the top level).

    context_tokens: max_position_embeddings. mtp_layers: layers of the draft head. ngram_keys: keys that tell of an
    n-gram (PLE) table, ple_embedding_dtype the table's declared format.
    """

    kind: ClassVar[str] = "model_config"
    architectures: list[str]
    model_type: str | None = None
    section: str = ""
    dtype: str | None = None
    context_tokens: int | None = None
    quantization: Quantization | None = None
    num_hidden_layers: int | None = None
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    hidden_size: int | None = None
    vocab_size: int | None = None
    num_experts: int | None = None
    sliding_window: int | None = None
    mtp_layers: int | None = None
    ple_embedding_dtype: str | None = None
    ngram_keys: list[str] = field(default_factory=list)
    multimodal_sections: list[str] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GenerationConfig(Record):
    """The checkpoint's own sampling. A parameter that it does not declare is None, not a default of some engine."""

    kind: ClassVar[str] = "generation_config"
    eos_token_ids: list[int]
    do_sample: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class QuantConfig(Record):
    """``hf_quant_config.json`` of ModelOpt."""

    kind: ClassVar[str] = "quant_config"
    quantization: Quantization


def parse_model_config(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """The file as a record of its kind; pointers, error pages and load-or-fail settings as findings."""
    stand_in = lfs_pointer(text, _SUBJECT) or error_page(text, _SUBJECT)
    if stand_in is not None:
        return Parsed([], [stand_in])
    said = read_json(text)
    if said.problem:
        return Parsed([], [truncated("model-config", text, said.problem)])
    config = as_mapping(said.value)
    if "architectures" in config or "model_type" in config or any(key in config for key in _TEXT_SECTIONS):
        return _model(config)
    if isinstance(config.get("quantization"), dict) and "producer" in config:
        return Parsed([QuantConfig(quantization_of({"producer": config["producer"], **config["quantization"]}))])
    if any(key in config for key in (*_SAMPLING, *_GENERATION_KEYS)):
        return Parsed([_generation(config)])
    if "weight_map" in config:
        message = "this is a weights index; give it to safetensors-index"
        return Parsed([], [finding("parse.other_object", "tool:model-config", message)])
    return Parsed([], [unrecognised("model-config", text, rc)])


def _text_section(config: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """(path, section) that holds the language model's figures; ("", top level) when they are not nested."""
    path, section = "", config
    for _ in range(3):
        name = next((one for one in _TEXT_SECTIONS if isinstance(section.get(one), dict)), None)
        if name is None:
            break
        path, section = (f"{path}.{name}" if path else name), as_mapping(section[name])
    return path, section


def _first_int(sections: tuple[dict[str, Any], ...], keys: tuple[str, ...]) -> int | None:
    for section in sections:
        for key in keys:
            value = as_int(section.get(key))
            if value is not None:
                return value
    return None


def _model(config: dict[str, Any]) -> Parsed:
    path, text = _text_section(config)
    both = (text, config)
    printed = next((one for section in both for key in _QUANT_KEYS if (one := section.get(key)) is not None), None)
    dtype = next(
        (one for section in both for key in ("dtype", "torch_dtype") if (one := as_text(section.get(key)))), None
    )
    model = ModelConfig(
        architectures=[str(one) for one in as_list(config.get("architectures"))],
        model_type=as_text(config.get("model_type")),
        section=path,
        dtype=dtype.replace("torch.", "") if dtype else None,
        context_tokens=_first_int(both, _CONTEXT_KEYS),
        quantization=quantization_of(as_mapping(printed)) if printed is not None else None,
        num_hidden_layers=_first_int(both, ("num_hidden_layers", "n_layer", "num_layers")),
        num_attention_heads=_first_int(both, ("num_attention_heads", "n_head")),
        num_key_value_heads=_first_int(both, ("num_key_value_heads",)),
        head_dim=_first_int(both, ("head_dim",)),
        hidden_size=_first_int(both, ("hidden_size", "n_embd")),
        vocab_size=_first_int(both, ("vocab_size",)),
        num_experts=_first_int(both, _EXPERT_KEYS),
        sliding_window=_first_int(both, ("sliding_window",)),
        mtp_layers=_first_int(both, _MTP_KEYS),
        ple_embedding_dtype=next((one for s in both if (one := as_text(s.get("ple_embedding_dtype")))), None),
        ngram_keys=sorted({str(key) for section in both for key in section if _TABLE_KEY.search(str(key))}),
        multimodal_sections=sorted(key for key in config if key.endswith("_config") and key[:5] in ("visio", "audio")),
    )
    model = with_reasons(model, {"quantization": "the config declares none"}, "not in the config")
    return Parsed([model], _model_findings(model))


def _model_findings(model: ModelConfig) -> list[Finding]:
    found: list[Finding] = []
    if not model.architectures:
        found.append(finding("model.architecture_unknown", _SUBJECT, "the config names no architecture"))
    if model.context_tokens is None:
        found.append(finding("model.context_unknown", _SUBJECT, "the config does not say how long a context may be"))
    quantized_table = model.quantization is not None and any("ple" in one for one in model.quantization.ignored)
    if model.ple_embedding_dtype is None and (quantized_table or model.ngram_keys):
        severity = "error" if quantized_table else "warning"
        message = "there is an n-gram (PLE) table and text_config.ple_embedding_dtype does not say its format"
        evidence = {"keys": model.ngram_keys, "ignored": model.quantization.ignored[:10] if model.quantization else []}
        found.append(finding("model.ple_dtype_missing", _SUBJECT, message, evidence, severity=severity))
    return found


def _generation(config: dict[str, Any]) -> GenerationConfig:
    eos = config.get("eos_token_id")
    ids = [value for one in (eos if isinstance(eos, list) else [eos]) if (value := as_int(one)) is not None]
    sampling: dict[str, Any] = {key: _number(config.get(key)) for key in _SAMPLING}
    do_sample = config.get("do_sample") if isinstance(config.get("do_sample"), bool) else None
    return with_reasons(GenerationConfig(ids, do_sample, **sampling), {}, "the checkpoint declares none")


def _number(printed: Any) -> float | None:
    return float(printed) if isinstance(printed, (int, float)) and not isinstance(printed, bool) else None
