"""The `vllm` command line: only `serve` is simulated."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from . import log
from .flags import USAGE, non_default, parse_serve, refuse
from .memory import StartError
from .seat import seat_of
from .startup import StopRequested, request_stop, serve
from .versions import flag_rows, tables_for

TABLES = Path(os.environ.get("SIM_VLLM_TABLES", "/opt/gpu-seats-lab/flags"))
OTHER_COMMANDS = ("chat", "complete", "launch", "bench", "collect-env", "run-batch")


def main(arguments: list[str]) -> int:
    version = os.environ.get("SIM_VLLM_VERSION", "0.33.0")
    # PID 1 has no default action for signals: without a handler `docker stop` would wait ten seconds and kill
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, request_stop)
    if arguments[:1] in (["--version"], ["-v"]):
        print(version)
        return 0
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: {USAGE}\n\nSIMULATOR of the gpu-seats lab; only `vllm serve` is there.")
        return 0
    if arguments[0] in OTHER_COMMANDS:
        print(f"vllm {arguments[0]} is not simulated in the gpu-seats lab", file=sys.stderr)
        return 1
    if arguments[0] != "serve":
        refuse(f"argument subparser: invalid choice: '{arguments[0]}' (choose from serve, {', '.join(OTHER_COMMANDS)})")
    options = parse_serve(arguments[1:], flag_rows(tables_for(version, TABLES)))
    try:
        seat = seat_of(options)
    except StartError as refusal:
        log.api_failure(str(refusal))
        return 1
    described = {key: value for key, value in non_default(options).items() if key != "api_key"}
    try:
        return serve(seat, version, str(described))
    except StopRequested:
        return 0
