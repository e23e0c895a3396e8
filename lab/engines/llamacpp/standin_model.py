"""What llama-server does with a model file that is only a stand-in of the lab: it SIMULATES a seat, and says so."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from openai_api.card import claims_on_cards, follower
from openai_api.server import GENERATE, Engine, EngineServer

MARK = b"stand-in of the gpu-seats lab"
CLAIM_MIB = 4096


def is_standin(path: str) -> bool:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(MARK)) == MARK
    except OSError:
        return False


def serve_standin(params: Any) -> None:
    """Answer like llama-server: 503 on /health while it "loads", then simulated completions. Never returns."""
    claims = claims_on_cards("/app/llama-server", int(os.environ.get("SIM_WEIGHTS_MIB", CLAIM_MIB)))
    names = sorted(params.model_alias) or [Path(params.model.path).name]
    engine = Engine(
        names=names,
        root=params.model.path,
        tasks={GENERATE},
        owner="llamacpp",
        any_model=True,
        api_keys=[key for key in params.api_keys if key],
        on_load_change=follower(claims),
        loading=True,
    )
    server = EngineServer((params.hostnames[0], params.port), engine)
    server.start_answering()
    print("stand-in model file: this seat is SIMULATED, no model is loaded", flush=True)
    time.sleep(float(os.environ.get("SIM_LOAD_S", "2")))
    engine.loading = False
    print(
        f"main: server is listening on http://{params.hostnames[0]}:{params.port} - starting the main loop", flush=True
    )
    while True:
        time.sleep(3600)
