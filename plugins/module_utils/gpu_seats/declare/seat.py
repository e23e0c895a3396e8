"""A seat: one served model, a service of a stack, pinned to cards."""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

from pydantic import Field

from .fields import (
    AbsolutePath,
    Date,
    Engine,
    Fraction,
    HeldSizeMib,
    Name,
    Port,
    Record,
    Seconds,
    ServedName,
    SizeMib,
    Task,
)
from .workload import Workload


class Model(Record):
    """The checkpoint. `weights` is what it takes on each card once loaded, as the engine's log says."""

    path: Optional[AbsolutePath] = Field(
        None, description="Directory (or GGUF file) on the host, mounted at its own path"
    )
    repo: Optional[str] = Field(None, description="Hugging Face repository it came from")
    revision: Optional[str] = Field(None, description="Commit of the repository, in quotes when it looks like a number")
    served_name: Optional[ServedName] = Field(None, description="Name in /v1/models; the seat's name unless given")
    quantization: Optional[str] = Field(None, description="As documented (NVFP4 W4A16, GGUF Q6_K, ...)")
    weights: Optional[SizeMib] = Field(None, description="Resident on each card once loaded, from the engine's log")
    disk: Optional[SizeMib] = Field(None, description="Size of the checkpoint on disk")
    composition: dict[str, SizeMib] = Field(default_factory=dict, description="Parts of the checkpoint by format")


class Engram(Record):
    """vLLM --engram-config: n-gram tables. With `cpu_offload` they are pinned in host RAM and read over UVA."""

    cpu_offload: bool
    embedding_across_dp: Optional[bool] = None
    dp_shared_memory: Optional[bool] = None
    use_thp: Optional[bool] = None
    table: Optional[SizeMib] = Field(None, description="Size of the table; host RAM takes the next power of two")


class Speculative(Record):
    """vLLM --speculative-config."""

    method: str
    num_speculative_tokens: int = Field(ge=1)
    model: Optional[str] = None
    mtp_layers: Optional[int] = Field(
        None,
        ge=1,
        description="mtp_num_hidden_layers of the checkpoint: more tokens than that must be a multiple of it",
    )


class VllmOptions(Record):
    """What a vLLM seat sets. `flags` takes any other flag of that vLLM version by its long name without dashes."""

    max_model_len: Optional[int] = Field(None, gt=0, description="Context in tokens", examples=[262144])
    gpu_memory_utilization: Optional[Fraction] = Field(
        None, description="Share of the card's total memory, not of what is free"
    )
    kv_cache_memory: Optional[HeldSizeMib] = Field(
        None, description="Pinned KV bytes: vLLM then skips profiling, so max_num_batched_tokens is required"
    )
    max_num_batched_tokens: Optional[int] = Field(
        None, gt=0, description="Bounds the activation peak of a prefill", examples=[8192]
    )
    max_num_seqs: Optional[int] = Field(None, gt=0, description="Requests that run at once", examples=[16])
    activation_peak: Optional[SizeMib] = Field(None, description="Measured peak of a prefill at batched-token depth")
    tensor_parallel_size: Optional[int] = Field(None, ge=1)
    quantization: Optional[str] = None
    kv_cache_dtype: Optional[str] = None
    runner: Optional[Literal["generate", "pooling"]] = None
    engram: Optional[Engram] = None
    speculative: Optional[Speculative] = None
    hf_overrides: Optional[dict[str, Any]] = None
    enforce_eager: Optional[bool] = None
    build_date: Optional[Date] = Field(
        None, description="Day the image was built, where its tag does not tell (a nightly's commit, a digest)"
    )
    flags: dict[str, Union[bool, int, float, str, list[str], dict[str, Any]]] = Field(default_factory=dict)


class LlamacppOptions(Record):
    """What a llama.cpp server seat sets. `ctx_size` 0 means the model's own."""

    ctx_size: int = Field(0, ge=0)
    parallel: int = Field(1, ge=1)
    gpu_layers: Union[int, Literal["auto", "all"]] = "all"
    repack: bool = Field(True, description="false gives --no-repack (weights stay as in the file)")
    metrics: bool = True
    flags: dict[str, Union[bool, int, float, str]] = Field(default_factory=dict)


class Alias(Record):
    """A model name on the LiteLLM gateway that points at this seat."""

    keys: list[str] = Field(default_factory=list, description="Gateway keys that must see the alias")
    sampling: Union[Literal["from-checkpoint"], dict[str, float], None] = None
    reason: Optional[str] = None


class Timeouts(Record):
    """Own time limit of each readiness step."""

    container: Seconds = 60.0
    load: Seconds = 900.0
    port: Seconds = 10.0
    health: Seconds = 10.0
    completion: Seconds = 60.0


class Seat(Workload):
    """One served model."""

    engine: Engine = Field(description="What serves the model; the block of the same name holds its options")
    task: Task = Field("chat", description="What the readiness check asks it for")
    model: Model = Field(default_factory=Model, description="The checkpoint")
    port: Optional[Port] = Field(None, description="Port on the host; unique there")
    container_port: Optional[Port] = Field(None, description="8000 for vLLM, 8080 for llama.cpp unless given")
    vllm: Optional[VllmOptions] = None
    llamacpp: Optional[LlamacppOptions] = None
    gateway: dict[Name, Alias] = Field(default_factory=dict, description="Aliases on the model gateway, by name")
    timeouts: Timeouts = Field(default_factory=Timeouts, description="Time limit of each readiness step")
