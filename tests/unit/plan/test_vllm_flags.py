"""Flags are held against the parser of the declared version, as the engine itself would take or refuse them."""

from __future__ import annotations

import pytest

from gpu_seats.plan.vllm_builds import build_of
from gpu_seats.plan.vllm_flags import NEVER, OWN_KEYS, flag_problems, flag_table, list_forms, table_versions, tables_for


def problems(flags, tag="v0.30.0", granted=frozenset()):
    return flag_problems(flags, tables_for(build_of(f"vllm/vllm-openai:{tag}")), granted)


def messages(flags, tag="v0.30.0"):
    return [one.message for one in problems(flags, tag)]


@pytest.mark.parametrize(
    "flags",
    [
        {"enable-prefix-caching": True},
        {"enable-prefix-caching": False},
        {"no-enable-prefix-caching": True},
        {"seed": 7},
        {"seed": "7"},
        {"tool-call-parser": "hermes"},
        {"limit-mm-per-prompt": {"image": 2}},
        {"limit-mm-per-prompt": '{"image": 2}'},
        {"allowed-origins": ["http://10.251.50.54:3000"]},
        {"lora-modules": ["a=/x", "b=/y"]},
        {"max-lora-rank": 64},
        {"middleware": ["a.B"]},
        {"compilation-config": {"level": 3}},
    ],
    ids=str,
)
def test_flags_that_the_engine_takes(flags):
    assert problems(flags) == []


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"enable-prefix-cachng": True}, "did you mean --enable-prefix-caching"),
        ({"enable-prefix": True}, "an abbreviation of --enable-prefix-caching: write it out"),
        ({"kv-cache-memory": "14G"}, "write vllm.kv_cache_memory"),
        ({"max_num_seqs": 4}, "write it as vLLM lists it: max-num-seqs"),
        ({"--seed": 1}, "without dashes: seed"),
        ({"seed": 1.5}, "not a whole number"),
        ({"seed": True}, "takes a value"),
        ({"enable-prefix-caching": "yes"}, "is a switch"),
        ({"no-enable-prefix-caching": False}, "write enable-prefix-caching: true"),
        ({"headless": True}, "is not allowed"),
        ({"api-key": "x"}, "VLLM_API_KEY"),
        ({"max-lora-rank": 63}, "none of 1, 8, 16"),
        ({"lora-modules": []}, "empty list"),
        ({"seed": [1, 2]}, "takes one value"),
        ({"limit-mm-per-prompt": "{image: 2"}, "is not JSON"),
        ({"compilation-config.level": 3}, "write compilation-config as a mapping"),
        ({"seed": {"a": 1}}, "takes no mapping"),
    ],
    ids=str,
)
def test_flags_that_the_engine_refuses(flags, says):
    found = problems(flags)
    assert len(found) == 1 and found[0].sure
    assert says in found[0].message


def test_flag_that_came_with_a_release_is_refused_before_it():
    assert messages({"grpc-port": 9000}, "v0.32.0") == []
    assert "is no flag of vLLM 0.31.0" in messages({"grpc-port": 9000}, "v0.31.0")[0]


def test_flag_that_a_release_dropped_is_refused_after_it():
    assert messages({"enable-bf16x3-router-gemm": True}, "v0.29.0") == []
    assert "is no flag of vLLM 0.30.0" in messages({"enable-bf16x3-router-gemm": True}, "v0.30.0")[0]


def test_build_between_releases_is_held_against_both_neighbours():
    tables = tables_for(build_of("vllm/vllm-openai:v0.29.1rc0"))
    assert (tables.nearest.version, tables.other.version, tables.exact) == ("0.30.0", "0.29.0", False)
    unsure = problems({"dp-sync-interval": 4}, "v0.29.1rc0")
    assert [one.sure for one in unsure] == [False]
    assert "0.30.0 has it and 0.29.0 has not" in unsure[0].message
    assert problems({"dp-sync-interval": 4}, "v0.29.1rc0", frozenset({"--dp-sync-interval"})) == []
    refused = problems({"no-such-flag-at-all": 1}, "v0.29.1rc0")
    assert [one.sure for one in refused] == [True]


@pytest.mark.parametrize(
    ("tag", "nearest"),
    [
        ("v0.27.1", "0.28.0"),
        ("v0.34.0", "0.33.0"),
        ("latest", "0.33.0"),
        ("nightly-2026-10-01", "0.31.0"),
        ("v0.30.1", "0.31.0"),
    ],
)
def test_nearest_table_is_explained(tag, nearest):
    tables = tables_for(build_of(f"vllm/vllm-openai:{tag}"))
    assert tables.nearest.version == nearest
    assert not tables.exact and tag in tables.why and nearest in tables.why


def test_unknown_flag_of_a_build_beyond_the_tables_may_exist():
    assert [one.sure for one in problems({"brand-new-flag": 1}, "v0.34.0")] == [False]


def test_deprecated_flag_is_told_where_it_is_deprecated():
    assert problems({"log-config-file": "/x"}, "v0.30.0") == []
    found = problems({"log-config-file": "/x"}, "v0.31.0")
    assert [one.sure for one in found] == [False] and "logging-config" in found[0].message


def test_every_own_key_and_forbidden_flag_is_a_flag_of_some_release():
    spelled = {flag for version in table_versions() for flag in flag_table(version).rows}
    abbreviation = {"kv-cache-memory", "model"}
    assert {name for name in OWN_KEYS if f"--{name}" not in spelled} <= abbreviation
    assert {name for name in NEVER if f"--{name}" not in spelled} == set()


def test_lists_are_written_as_the_parser_reads_them():
    forms = list_forms("vllm/vllm-openai:v0.30.0")
    assert (forms["--middleware"], forms["--lora-modules"], forms["--allowed-origins"]) == ("append", "many", "json")
