"""Wrong names and declarations: refused with file, key, value and what is allowed, before anything is touched.

Each run of a verb tells every fault at once, so most tests here read one run of a thoroughly spoiled fleet.
"""

from __future__ import annotations

import re

import pytest
from outside.plays import Run, deploy

# stack -> text, what it is spoiled to, and what the message must say
UNREADABLE = {
    "unknown key": (
        "coder", "    port: 8019", "    prot: 8019",
        ["seats.coder.prot", "did you mean port", "allowed: state,"],
    ),
    "port that is no number": (
        "flash-next-seat", "    port: 8022", '    port: "80x"',
        ['seats.flash-next.port: "80x" is not a whole number', "allowed: 1 to 65535"],
    ),
    "card that YAML reads as false": (
        "gen-seat", '    gpus: ["0"]', "    gpus: [no]",
        ["seats.gen.gpus[0]", "YAML 1.1 reads no as false", 'in quotes: "0", "1", "2", "3"'],
    ),
    "card that the host does not have": (
        "erp-seat", '    gpus: ["1"]', '    gpus: ["7"]',
        ['seats.erp.gpus[0]: "7" is no card of fv-ml1', 'allowed: "0", "1", "2", "3"'],
    ),
    "count together with device_ids": (
        "meromero-rp", '    gpus: ["1"]', '    count: 1\n    device_ids: ["1"]',
        ["seats.meromero.count", "seats.meromero.device_ids", "exclude each other", 'gpus: ["<card>"]'],
    ),
    "no cards named at all": (
        "charrp-reasoning", '    gpus: ["0"]\n', "",
        ["seats.char-rp-reasoning: the key gpus is missing", 'cards of fv-ml1: "0", "1", "2", "3"'],
    ),
    "text that YAML reads as a number": (
        "smol-seat", "quantization: GGUF Q4_1", "revision: 1.10",
        ["seats.smol.model.revision: 1.10 is not text", 'write revision: "1.10"'],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def unreadable(new_copy, untouched) -> Run:
    """A run with every fault of UNREADABLE in the declarations."""
    spoilt = new_copy()
    for stack, old, new, _ in UNREADABLE.values():
        spoilt.edit_text(stack, old, new)
    with untouched():
        return deploy("flash-next", project=spoilt.root)


@pytest.mark.parametrize("fault", UNREADABLE)
def test_a_declaration_that_cannot_be_read_names_file_key_value_and_what_is_allowed(unreadable, fault):
    stack, _, _, texts = UNREADABLE[fault]
    assert unreadable.rc != 0
    unreadable.says("refused, nothing was touched", f"stacks/{stack}/stack.yml:", *texts)
    assert "Traceback" not in unreadable.out


def test_a_fault_in_one_file_stops_the_deploy_of_another_seat(unreadable):
    """Protects: ports, cards and names are checked against the whole fleet, which must be readable for that."""
    unreadable.says("stacks/coder/stack.yml:")
    assert "TASK" not in unreadable.out


@pytest.fixture(scope="module")
def unfitting(new_copy, untouched) -> Run:
    """A run of readable declarations that are wrong against each other, the cards, or the engine's build."""
    spoilt = new_copy()
    spoilt.edit_text("flash-next-seat", "v0.29.1rc0\n", "v0.29.0\n")
    spoilt.declare("flash-next-seat", "flash-next", vllm={"max_num_batched_tokens": None})
    spoilt.declare("gen-seat", "gen", gpus=["2"], vllm={"flags": {"max-num-seq": 8, "enable-prefix-cachin": True}})
    spoilt.declare("coder", "coder", gpus=["3"])
    web = {"state": "serving", "image": "louislam/dockge:1.5.0", "gpus": []}
    summary = {"host": "fv-ml1", "summary": "A second dockge"}
    spoilt.add_stack("other", {**summary, "project": "dockge", "services": {"web": web}})
    spoilt.declare("smol-seat", "smol", image="ghcr.io/ggml-org/llama.cpp:server-b1")
    with untouched():
        return deploy("smol,flash-next,gen,coder,dockge", "-e", "pull=never", project=spoilt.root)


def test_one_wrong_seat_of_a_list_stops_the_whole_list(unfitting):
    """Protects: a run never does half of what was asked because the other half was wrong."""
    assert unfitting.rc != 0
    for seat in ("smol", "flash-next", "gen", "coder", "dockge"):
        assert unfitting.verdict(seat) == "refused, nothing was touched"


def test_every_refusal_fails_the_run_and_says_what_to_do(unfitting):
    assert all(one.remedy for one in unfitting.findings)
    for code in ("vram.overcommitted", "vram.reserved", "stack.project_collision", "seat.flag_refused",
                 "seat.feature_missing", "vram.unbounded_activations", "compose.image_missing"):  # fmt: skip
        assert unfitting.finding(code).severity == "error"


def test_a_full_card_is_refused_with_its_arithmetic(unfitting):
    """Protects: the sum of declared claims after the driver's reserve, and beside it what nvidia-smi measures."""
    over = unfitting.finding("vram.overcommitted", "host:fv-ml1/gpu:2").message
    assert "97,887 MiB - 640 driver reserve = 97,247" in over
    assert re.search(r"flash-next 95,232 \+ gen 41,11[23][.\d]* = 136,34[45][.\d]*; over by 39,09[78][.\d]* MiB", over)
    measured = unfitting.finding("vram.not_enough_free", "host:fv-ml1/gpu:2").message
    assert "nvidia-smi measures" in measured and "MiB are missing" in measured


def test_a_seat_below_full_size_is_kept_off_the_reserved_card(unfitting):
    message = unfitting.finding("vram.reserved").message
    assert "coder" in message and "card 3" in message


def test_two_stacks_with_one_project_name_are_refused(unfitting):
    """Protects: neither deploy takes the other's containers for its own."""
    message = unfitting.finding("stack.project_collision").message
    assert "dockge and other of fv-ml1 would both be Compose project dockge" in message


def test_a_flag_that_this_vllm_does_not_have_is_refused_with_the_nearest_one(unfitting):
    """Protects: no container that ends at once with argparse's usage text, one flag at a time."""
    messages = " ".join(one.message for one in unfitting.findings if one.code == "seat.flag_refused")
    assert "max-num-seq" in messages and "--max-num-seqs" in messages
    assert "enable-prefix-cachin" in messages and "--enable-prefix-caching" in messages


def test_a_build_without_the_needed_feature_is_refused_with_the_merge_it_came_with(unfitting):
    """Protects: v0.29.0 was cut hours before the merge: the table would stay on the card and fill it."""
    message = unfitting.finding("seat.feature_missing", "seat:flash-next").message
    assert "vllm/vllm-openai:v0.29.0 does not have it" in message
    assert "#54371" in message and "0.30.0" in message


def test_pinned_kv_bytes_without_a_bound_on_activations_are_refused(unfitting):
    """Protects: vLLM then skips profiling, and a long prefill would run the card out of memory."""
    assert "max_num_batched_tokens" in unfitting.finding("vram.unbounded_activations", "seat:flash-next").message


def test_an_image_that_is_not_there_is_refused_when_nothing_may_be_pulled(unfitting):
    shown = unfitting.finding("compose.image_missing", "seat:smol")
    assert "ghcr.io/ggml-org/llama.cpp:server-b1 is not on the host" in shown.message
    assert "pull=missing" in shown.remedy


def test_an_unknown_seat_gets_the_nearest_names(untouched):
    with untouched():
        run = deploy("flsh-next")
    assert run.rc != 0
    run.says("flsh-next is no seat, stack or service that is declared; did you mean flash-next")


def test_no_seat_at_all_says_what_to_write(untouched):
    with untouched():
        run = deploy("")
    assert run.rc != 0
    run.says("which seat? write -e seat=flash-next")


def test_a_retired_seat_is_not_deployed_and_its_reason_is_told(untouched):
    with untouched():
        run = deploy("selene")
    assert run.rc != 0
    run.says("selene is retired (Lost a head-to-head", "playbooks/retire-seat.yml -e seat=selene")


def test_a_host_that_the_lab_does_not_run_is_never_reached(untouched, scratch):
    """Protects: no command against the lab inventory touches production."""
    scratch.edit_text("smol-seat", "host: fv-ml1", "host: irv-ml1")
    with untouched():
        run = deploy("smol", project=scratch.root)
    assert run.rc != 0
    run.says("stands on irv-ml1, which this inventory does not run")
    assert "PLAY" not in run.out
