"""``quantization_config``: every method names its own facts in its own way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..jsontext import as_int, as_list, as_mapping, as_text


@dataclass(frozen=True)
class Quantization:
    """method (``modelopt``, ``compressed-tensors``, ``awq``, ``fp8`` ...), algo (``NVFP4``, ``FP8``, ``w4a16`` ...).

    weight_bits and activation_bits from the first group that gives them; ignored: modules left as they were.
    """

    method: str | None
    algo: str | None
    weight_bits: int | None = None
    activation_bits: int | None = None
    group_size: int | None = None
    kv_cache: str | None = None
    ignored: list[str] = field(default_factory=list)


def quantization_of(config: dict[str, Any]) -> Quantization:
    """The quantisation that a config declares, from the keys of ModelOpt, compressed-tensors, AWQ, GPTQ and FP8."""
    groups = [as_mapping(one) for one in as_mapping(config.get("config_groups")).values()]
    weights = next((as_mapping(one.get("weights")) for one in groups if one.get("weights")), {})
    inputs = next((as_mapping(one.get("input_activations")) for one in groups if one.get("input_activations")), {})
    method = as_text(config.get("quant_method")) or as_text(as_mapping(config.get("producer")).get("name"))
    algo = as_text(config.get("quant_algo")) or as_text(config.get("format")) or as_text(config.get("fmt"))
    bits = as_int(weights.get("num_bits")) or as_int(config.get("bits")) or as_int(config.get("w_bit"))
    if bits is None:
        bits = 4 if config.get("load_in_4bit") is True else 8 if config.get("load_in_8bit") is True else None
    if bits is None and (method == "fp8" or "fp8" in (algo or "").lower()):
        bits = 8
    if bits is None and "fp4" in (algo or method or "").lower():
        bits = 4
    ignored = next((one for key in _IGNORE_KEYS if isinstance(one := config.get(key), list)), [])
    return Quantization(
        method=method,
        algo=algo or as_text(config.get("version")),
        weight_bits=bits,
        activation_bits=as_int(inputs.get("num_bits")),
        group_size=as_int(weights.get("group_size")) or as_int(config.get("group_size")),
        kv_cache=_kv_cache(config),
        ignored=[str(one) for one in as_list(ignored)],
    )


_IGNORE_KEYS = ("ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers")


def _kv_cache(config: dict[str, Any]) -> str | None:
    """``FP8`` style name of a quantised KV cache, None where it is kept as the model computes."""
    named = as_text(config.get("kv_cache_quant_algo"))
    scheme = as_mapping(config.get("kv_cache_scheme"))
    bits, kind = as_int(scheme.get("num_bits")), as_text(scheme.get("type"))
    if named or bits is None:
        return named
    return f"{'FP' if kind == 'float' else 'INT'}{bits}"
