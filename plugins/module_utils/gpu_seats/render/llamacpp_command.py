"""The command line of a llama.cpp seat (``llama-server``), as a list of arguments."""

from __future__ import annotations

from ..declare.seat import LlamacppOptions, Seat
from ..plan.ports import listening_port


def llamacpp_command(name: str, seat: Seat) -> list[str]:
    """Arguments of seat `name`. Raises ValueError for a seat without a model file.

    ``-ngl 0`` where the seat has no card: the default offloads all layers and asks for one.
    """
    options = seat.llamacpp or LlamacppOptions()
    if seat.model.path is None:
        raise ValueError(f"seat {name}: model.path is missing; llama.cpp serves a GGUF file on the host")
    command = ["-m", seat.model.path, "-a", seat.model.served_name or name]
    command += ["--host", "0.0.0.0", "--port", str(listening_port(seat))]
    command += ["-c", str(options.ctx_size), "-np", str(options.parallel)]
    command += ["-ngl", str(options.gpu_layers) if seat.gpus else "0"]
    command += ["--metrics"] * options.metrics + ["--no-repack"] * (not options.repack)
    for flag in sorted(options.flags):
        value = options.flags[flag]
        if value is True:
            command.append("--" + flag)
        elif value is False:
            command.append("--no-" + flag)
        else:
            command += ["--" + flag, format(value, ".10g") if isinstance(value, float) else str(value)]
    return command
