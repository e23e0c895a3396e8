"""`make demo`: a lab host, two seats deployed by the everyday verb, and a real completion from one of them."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request

from lab.layout import REACH_ADDRESS

from .steps import BIN, PROJECT, banner, run_step

SEATS = "flash-next,smol"
SMOL_PORT = 8090
PROMPT = "In one sentence: what is a GPU good for?"

NEXT = """\
What to try next (all against the lab; production needs `-i inventories/production`):
  . .venv/bin/activate
  ansible-playbook playbooks/power.yml                             set the power caps, which a status asks for
  ansible-playbook playbooks/status.yml -e seat=flash-next,smol    their state and verdict, seen from outside
  ansible-playbook deploy-seat.yml -e seat=flash-next --check --diff   the plan, nothing touched
  ansible-playbook playbooks/retire-seat.yml -e seat=selene       take a seat away that is declared retired
  gpu-seats render flash-next-seat                                the Compose file that the host gets
  gpu-seats lint                                                  check every declaration
  ssh -F .lab/ssh_config fv-ml1                                   look around on the lab host
  make test | make bench | make lab-reset | make lab-down"""


def chat(base: str, model: str, prompt: str, limit_s: float = 120) -> tuple[str, float]:
    """One chat completion from an OpenAI-style server: the answer and how many seconds it took."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], "max_tokens": 48}
    request = urllib.request.Request(
        f"{base}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    begun = time.monotonic()
    with urllib.request.urlopen(request, timeout=limit_s) as answer:
        content = json.load(answer)["choices"][0]["message"]["content"]
    return content.strip(), time.monotonic() - begun


def show_completion() -> int:
    """Ask the llama.cpp seat and print question and answer; 1 when it gives none."""
    base = f"http://{REACH_ADDRESS}:{SMOL_PORT}"
    banner(f"a real completion: curl {base}/v1/chat/completions")
    try:
        answer, elapsed_s = chat(base, "smollm2-135m-instruct", PROMPT)
    except (urllib.error.URLError, OSError, KeyError, ValueError) as error:
        print(f"demo: ERROR: no completion from {base}: {error}", file=sys.stderr)
        return 1
    if not answer:
        print(f"demo: ERROR: {base} answered with an empty completion", file=sys.stderr)
        return 1
    print(f"  > {PROMPT}\n  {answer}\n  (SmolLM2-135M on this machine's CPU, {elapsed_s:.1f} s)", flush=True)
    return 0


def main() -> int:
    """Lab, deploy, completion, and what to try next."""
    os.chdir(PROJECT)
    begun = time.monotonic()
    playbook = [str(BIN / "ansible-playbook"), "deploy-seat.yml", "-e", f"seat={SEATS}"]
    for name, argv, limit_s in (
        ("lab host", [str(BIN / "python"), "-m", "lab", "up"], 1800.0),
        (f"deploy {SEATS}", playbook, 1200.0),
    ):
        rc, _ = run_step(name, argv, limit_s=limit_s)
        if rc != 0:
            return rc
    rc = show_completion()
    if rc == 0:
        banner(f"demo: done, {time.monotonic() - begun:.0f} s")
        print(NEXT, flush=True)
    return rc


if __name__ == "__main__":
    sys.exit(main())
