"""The parsers by the name of the tool: ``gpu-seats parse TOOL`` and everything else that reads saved outputs.

A capture may hold several commands with notes around them (see `captures`). Parsers are imported when they are asked
for. Nothing a tool prints makes `observe` raise: text that can't be read is a finding.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

from ..findings import Finding, finding
from .captures import blocks
from .cleantext import decoded, looks_binary, plain
from .records import Observation, Parsed, first_line, unique

Parser = Callable[[str, "int | None", "str | None"], Parsed]
_MAX_CHARS = 64 * 2**20
"""Longer input is read up to here, from its end for logs (the last start counts)."""


def _nvidia_smi() -> Parser:
    from .nvidia.parse import parse_nvidia_smi

    return parse_nvidia_smi


def _docker_inspect() -> Parser:
    from .containers.inspect import parse_docker_inspect

    return parse_docker_inspect


def _docker_ps() -> Parser:
    from .containers.ps import parse_docker_ps

    return parse_docker_ps


def _docker_port() -> Parser:
    from .containers.port import parse_docker_port

    return parse_docker_port


def _compose_up() -> Parser:
    from .compose.up import parse_compose_up

    return parse_compose_up


def _compose_config() -> Parser:
    from .compose.config import parse_compose_config

    return parse_compose_config


def _ss() -> Parser:
    from .listeners import parse_ss

    return parse_ss


def _vllm_log() -> Parser:
    from .engines.vllm_log import parse_vllm_log

    return parse_vllm_log


def _llamacpp_log() -> Parser:
    from .engines.llamacpp_log import parse_llamacpp_log

    return parse_llamacpp_log


def _safetensors_index() -> Parser:
    from .models.safetensors_index import parse_safetensors_index

    return parse_safetensors_index


def _model_config() -> Parser:
    from .models.model_config import parse_model_config

    return parse_model_config


def _ipmitool_dcmi() -> Parser:
    from .ipmi.dcmi import parse_dcmi

    return parse_dcmi


def _ipmitool_sensor() -> Parser:
    from .ipmi.sensors import parse_sensors

    return parse_sensors


def _ipmitool_chassis() -> Parser:
    from .ipmi.chassis import parse_chassis

    return parse_chassis


def _ipmitool_sel() -> Parser:
    from .ipmi.sel import parse_sel

    return parse_sel


PARSERS: dict[str, Callable[[], Parser]] = {
    "nvidia-smi": _nvidia_smi,
    "docker-inspect": _docker_inspect,
    "docker-ps": _docker_ps,
    "docker-port": _docker_port,
    "compose-up": _compose_up,
    "compose-config": _compose_config,
    "ss": _ss,
    "vllm-log": _vllm_log,
    "llamacpp-log": _llamacpp_log,
    "safetensors-index": _safetensors_index,
    "model-config": _model_config,
    "ipmitool-dcmi": _ipmitool_dcmi,
    "ipmitool-sensor": _ipmitool_sensor,
    "ipmitool-chassis": _ipmitool_chassis,
    "ipmitool-sel": _ipmitool_sel,
}
"""Tool name -> function that imports and gives its parser."""


def read_capture(tool: str, text: str | bytes, rc: int | None = None) -> Observation:
    """Records and findings of one saved output; may raise where a parser has a fault (`observe` does not).

    rc: exit code of the tool; a ``# rc=N`` note in the text counts where none is given. Raises KeyError for an unknown
    tool.
    """
    parser = PARSERS[tool]()
    if looks_binary(text):
        first = first_line(plain(decoded(text)[:400]), 60)
        return Observation(tool, [], [finding("parse.not_text", f"tool:{tool}", f"this is no text: {first!r}")], [], rc)
    parsed, codes = Parsed(), []
    for block in blocks(plain(_shortened(tool, text))):
        code = block.rc if rc is None else rc
        codes.append(code)
        parsed.notes.extend(block.notes)
        if block.text.strip() or block.command is not None or block.rc is not None or len(codes) == 1:
            silent = None if block.text.strip() else _silent(tool, code)
            parsed.add(Parsed([], [silent]) if silent else parser(block.text, code, block.command))
    known = [code for code in codes if code is not None]
    return Observation(tool, parsed.records, unique(parsed.findings), parsed.notes, known[-1] if known else None)


def _silent(tool: str, rc: int | None) -> Finding | None:
    """The finding for a command that printed nothing and ended as timeout(1) or the shell end it, else None."""
    subject = f"tool:{tool}"
    if tool == "nvidia-smi":
        return None
    if rc == 124:
        return finding("command.hung", subject, "the command gave no answer in time (rc 124)", {"rc": rc})
    if rc == 127:
        return finding("command.missing", subject, "the command is not installed here (rc 127)", {"rc": rc})
    return None


def _shortened(tool: str, text: str | bytes) -> str:
    whole = decoded(text)
    return whole[-_MAX_CHARS:] if tool in ("vllm-log", "llamacpp-log") else whole[:_MAX_CHARS]


def observe(tool: str, text: str | bytes, rc: int | None = None) -> Observation:
    """Like `read_capture`, but a fault of a parser becomes the finding ``parse.fault``."""
    if tool not in PARSERS:
        raise KeyError(tool)
    try:
        return read_capture(tool, text, rc)
    except Exception as error:
        return Observation(tool, [], [_fault(tool, text, error)], [], rc)


def _fault(tool: str, text: str | bytes, error: Exception) -> Finding:
    evidence = {
        "error": f"{type(error).__name__}: {error}"[:300],
        "first_line": first_line(plain(decoded(text)[:2000])),
    }
    return finding("parse.fault", f"tool:{tool}", f"the parser of {tool} failed with {type(error).__name__}", evidence)


class Tool(NamedTuple):
    """One entry of `TOOLS`; callable: ``TOOLS["ss"](text, rc)``. summary: what may be given to it."""

    name: str
    summary: str

    def parse(self, text: str | bytes, rc: int | None = None) -> Observation:
        return observe(self.name, text, rc)

    def __call__(self, text: str | bytes, rc: int | None = None) -> Observation:
        return observe(self.name, text, rc)


_SUMMARIES = {
    "nvidia-smi": "any of its outputs and errors, NVRM lines of the kernel log, /proc/driver/nvidia/version",
    "docker-inspect": "containers, images, or DeviceRequests alone",
    "docker-ps": "docker ps or docker compose ps, as JSON or as a table",
    "docker-port": "docker port NAME [PORT]",
    "compose-up": "what docker compose up, pull, down or docker run printed",
    "compose-config": "docker compose config, YAML or JSON",
    "ss": "ss -ltnp, or netstat",
    "vllm-log": "the log of a vLLM server, also as docker compose logs prints it",
    "llamacpp-log": "the log of llama.cpp's server",
    "safetensors-index": "model.safetensors.index.json",
    "model-config": "config.json, generation_config.json or hf_quant_config.json",
    "ipmitool-dcmi": "ipmitool dcmi power reading, or get_limit: the watts that the BMC measures",
    "ipmitool-sensor": "ipmitool sensor, sdr, sdr elist, sdr type: the watts by the BMC's sensors",
    "ipmitool-chassis": "ipmitool chassis status: power faults, the last loss of power",
    "ipmitool-sel": "ipmitool sel list or elist: the power events that the BMC logged",
}

TOOLS: dict[str, Tool] = {name: Tool(name, _SUMMARIES[name]) for name in PARSERS}
"""Tool name -> callable (text, rc=None) -> Observation."""
