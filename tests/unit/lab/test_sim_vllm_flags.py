"""The vLLM simulator accepts and refuses exactly what the parser of the version that it claims to be does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vllm_sim import flags, values, versions

TABLES = Path(__file__).resolve().parents[3] / "plugins/module_utils/gpu_seats/data/vllm"
RELEASES = sorted(path.stem.removeprefix("serve-flags-") for path in TABLES.glob("serve-flags-*.json"))
SAMPLES = {"int": "1", "float": "0.5", "loads": "{}", "human_readable_int": "1k", "human_readable_int_or_auto": "auto"}


def parsed(version: str, *arguments: str) -> dict[str, object]:
    options = flags.parse_serve(list(arguments), versions.flag_rows(versions.tables_for(version, TABLES)))
    return flags.non_default(options)


def refused(capsys: pytest.CaptureFixture[str], version: str, *arguments: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        parsed(version, *arguments)
    assert exit_.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("version", RELEASES)
def test_every_spelling_of_the_table_is_accepted(version: str) -> None:
    rows = json.loads((TABLES / f"serve-flags-{version}.json").read_text())["flags"]
    parser = flags.serve_parser(rows)
    for row in rows:
        kind = str(row.get("type", "str")).removeprefix("optional[").removesuffix("]")
        sample = (row.get("choices") or [SAMPLES.get(kind, "{}" if kind.startswith("json:") else "x")])[0]
        value = [str(sample)] if row["action"] in ("store", "append") else []
        for spelling in row["accepted"] if row["action"] != "help" else []:
            options, unknown = parser.parse_known_args(["/m", spelling, *value])
            assert getattr(options, row["dest"]) is not None and unknown == [], spelling


@pytest.mark.parametrize(
    ("version", "tables"),
    [
        ("0.30.0", ["0.30.0"]),
        ("v0.29.1rc0", ["0.30.0", "0.29.0"]),
        ("0.29.1rc1.dev17+gd2d649e67", ["0.30.0", "0.29.0"]),
        ("0.30.0rc1", ["0.30.0", "0.29.0"]),
        ("0.27.1", [RELEASES[0]]),
        ("9.0.0", [RELEASES[-1]]),
        ("nightly-" + "a" * 40, [RELEASES[-1]]),
    ],
)
def test_tables_of_a_version(version: str, tables: list[str]) -> None:
    names = [path.stem.removeprefix("serve-flags-") for path in versions.tables_for(version, TABLES)]
    assert names == tables


def test_engram_exists_where_it_was_merged(capsys: pytest.CaptureFixture[str]) -> None:
    flag = ("--engram-config", '{"cpu_offload": true}')
    for version in ("0.29.1rc0", "0.30.0", "0.33.0"):
        assert parsed(version, "/m", *flag)["engram_config"] == {"cpu_offload": True}
    for version in ("0.28.0", "0.29.0"):
        assert refused(capsys, version, "/m", *flag) == f"vllm: error: unrecognized arguments: {' '.join(flag)}"


def test_json_flags_take_the_dotted_form() -> None:
    arguments = ("--engram-config.cpu_offload", "true", "--engram_config.dp_shared_memory=false")
    assert parsed("0.30.0", "/m", *arguments)["engram_config"] == {"cpu_offload": True, "dp_shared_memory": False}
    deep = parsed("0.30.0", "/m", "--hf-overrides.text_config.ple_embedding_dtype", "float8_e4m3fn")
    assert deep["hf_overrides"] == {"text_config": {"ple_embedding_dtype": "float8_e4m3fn"}}


def test_unknown_keys_of_the_engram_config_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "argument --engram-config" in refused(capsys, "0.30.0", "/m", "--engram-config", '{"offload": true}')


def test_prefixes_underscores_and_equals_signs() -> None:
    for argument in (["--kv-cache-memory", "14G"], ["--kv_cache_memory_bytes=14G"], ["--kv-cache-mem=14G"]):
        assert parsed("0.30.0", "/m", *argument)["kv_cache_memory_bytes"] == 14 * 2**30


def test_ambiguous_prefix_and_bad_choice_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "ambiguous option: --max-num" in refused(capsys, "0.30.0", "/m", "--max-num", "1")
    assert "argument --runner: invalid choice: 'rerank'" in refused(capsys, "0.30.0", "/m", "--runner", "rerank")


def test_all_unknown_arguments_are_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(capsys, "0.30.0", "/m", "--swap-space=16", "--port", "8000", "--foo", "bar")
    assert error == "vllm: error: unrecognized arguments: --swap-space=16 --foo bar"


@pytest.mark.parametrize(
    ("text", "number"),
    [("14G", 14 * 2**30), ("1.5g", 1_500_000_000), ("16k", 16_000), ("16K", 16_384), ("2m", 2_000_000), ("8192", 8192)],
)
def test_sizes_that_vllm_reads(text: str, number: int) -> None:
    assert values.human_readable_int(text) == number


@pytest.mark.parametrize("text", ["14GiB", "1.5G", "14 G", "g", "-1.5g"])
def test_sizes_that_vllm_refuses(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert "argument --kv-cache-memory-bytes: " in refused(capsys, "0.30.0", "/m", f"--kv-cache-memory-bytes={text}")


def test_model_flag_takes_the_place_of_the_positional() -> None:
    assert parsed("0.30.0", "--port", "8001", "--model", "/m")["model_tag"] == "/m"
