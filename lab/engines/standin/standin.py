#!/usr/bin/python3
"""STAND-IN of the gpu-seats lab for an image that can't be had here: it says so on every path, and does nothing else.

With arguments that name a program it runs that program instead, so that `command: sh -c ...` of a stack works.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import threading

sys.path.insert(0, "/opt/gpu-seats-lab")
sys.dont_write_bytecode = True

from openai_api.card import claims_on_cards, follower  # noqa: E402
from openai_api.server import CLASSIFY, EMBED, GENERATE, TRANSCRIBE, Engine, EngineServer  # noqa: E402

USUAL_PORTS = ["80", "3000", "8000", "8080"]


def wanted_ports(arguments: list[str], environment: dict[str, str]) -> list[int]:
    """Ports of the command line, of PORT-like variables, and those that the stacks publish of this image."""
    found = re.findall(r"(?:--port|--listen|-p)[ =](?:\S*:)?(\d{2,5})\b", " ".join(arguments))
    for name, value in environment.items():
        if re.fullmatch(r"(?:[A-Z_]*_)?(?:PORT|LISTEN|LISTEN_ADDR)", name):
            found += re.findall(r"(?:^|:)(\d{2,5})$", value)
    ports = found + environment.get("SIM_PORTS", "").split() or USUAL_PORTS
    return sorted({int(port) for port in ports})


def served_name(arguments: list[str], image: str) -> str:
    match = re.search(r"--(?:served-model-name|model-id|model)[ =](\S+)", " ".join(arguments))
    return match[1] if match else image.rpartition("/")[2].partition(":")[0]


def listens(port: int, engine: Engine) -> bool:
    try:
        EngineServer(("0.0.0.0", port), engine).start_answering()
    except OSError as error:
        print(f"port {port}: {error}", file=sys.stderr, flush=True)
        return False
    return True


def stop(*_: object) -> None:
    os._exit(0)


def main(arguments: list[str]) -> int:
    if arguments and shutil.which(arguments[0]):
        os.execvp(arguments[0], arguments)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    image = os.environ.get("SIM_IMAGE", "an image")
    names = [os.environ.get("SIM_SERVED_NAME") or served_name(arguments, image)]
    claims = claims_on_cards(image.rpartition("/")[2], int(os.environ.get("SIM_VRAM_MIB") or 0))
    engine = Engine(
        names=names,
        root=image,
        tasks={GENERATE, EMBED, CLASSIFY, TRANSCRIBE},
        owner="gpu-seats-lab",
        any_model=True,
        on_load_change=follower(claims),
        greeting=f"This is a stand-in of the gpu-seats lab for {image}; the real image isn't here.\n",
    )
    listening = [port for port in wanted_ports(arguments, dict(os.environ)) if listens(port, engine)]
    held = sum(claim.mib for claim in claims)
    print(f"stand-in of the gpu-seats lab for {image}, listening on {listening}, holds {held} MiB", flush=True)
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
