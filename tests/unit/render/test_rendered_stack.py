"""Files, digests and checks of a stack: the same declaration gives the same bytes, and secrets stay in their file."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from render_cases import rendered, service, stack, vllm_seat

from gpu_seats.render.env_file import EnvValueError, env_file_text
from gpu_seats.render.yaml_text import compose_escaped, yaml_text

ANY_TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)


def shuffled(value):
    """The same data with every mapping in reverse order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(list(value))}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def test_order_of_keys_does_not_matter():
    data = {
        "x": vllm_seat(environment={"A": "1", "B": "2"}, labels={"l": "1", "m": "2"}),
        "y": vllm_seat(
            port=8016, gpus=["1"], vllm={"gpu_memory_utilization": 0.2, "flags": {"seed": 1, "dtype": "auto"}}
        ),
    }
    one, other = rendered(stack(data)), rendered(stack(shuffled(data)))
    assert one.compose_text == other.compose_text
    assert {name: facts["digest"] for name, facts in one.services.items()} == {
        name: facts["digest"] for name, facts in other.services.items()
    }


def test_rendering_twice_gives_the_same_bytes():
    assert rendered(stack({"x": vllm_seat()})).compose_text == rendered(stack({"x": vllm_seat()})).compose_text


@pytest.mark.parametrize(
    "over",
    [
        {"image": "vllm/vllm-openai:v0.31.0"},
        {"port": 8016},
        {"gpus": ["1"]},
        {"labels": {"a": "b"}},
        {"environment": {"A": "1"}},
        {"vllm": {"gpu_memory_utilization": 0.2, "max_model_len": 8192}},
        {"homepage": {"group": "g", "name": "n"}},
        {"resources": {"mem_limit": "5GiB"}},
        {"timeouts": {"load": "20m"}},
        {"state": "on_demand"},
    ],
    ids=str,
)
def test_digest_changes_with_what_the_container_is_made_from(over):
    before = rendered(stack({"x": vllm_seat()})).services["x"]["digest"]
    assert rendered(stack({"x": vllm_seat(**over)})).services["x"]["digest"] != before


@pytest.mark.parametrize(
    "over",
    [
        {"reason": "because"},
        {"notes": [{"date": "2026-09-13", "says": "measured"}]},
        {"claim": {"vram": "21GiB"}},
        {"gateway": {"gen": {"keys": ["a"]}}},
        {"timeouts": {"completion": "90s"}},
    ],
    ids=str,
)
def test_digest_does_not_change_with_what_only_people_and_checks_read(over):
    before = rendered(stack({"x": vllm_seat()})).services["x"]["digest"]
    assert rendered(stack({"x": vllm_seat(**over)})).services["x"]["digest"] == before


def test_other_services_keep_their_digest():
    before = rendered(stack({"x": vllm_seat(), "y": vllm_seat(port=8016, gpus=["1"])}))
    after = rendered(stack({"x": vllm_seat(environment={"A": "1"}), "y": vllm_seat(port=8016, gpus=["1"])}))
    assert before.services["y"]["digest"] == after.services["y"]["digest"]
    assert before.services["x"]["digest"] != after.services["x"]["digest"]


def test_secrets_stand_in_their_own_file_and_nowhere_else():
    one = stack({"x": vllm_seat(secrets=["HF_TOKEN", "API_KEY"])})
    made = rendered(one, secrets={"HF_TOKEN": "hf_$secret'1", "API_KEY": "k", "UNUSED": "u"})
    (file,) = [file for file in made.files if file["secret"]]
    assert (file["path"], file["mode"]) == ("/opt/docker/conf/s/x.env", "0600")
    assert file["content"].splitlines()[0] == "API_KEY='k'"
    assert "UNUSED" not in file["content"]
    assert made.compose["services"]["x"]["env_file"] == ["/opt/docker/conf/s/x.env"]
    rest = json.dumps([made.compose, made.compose_text, made.services, made.checks])
    assert "hf_" not in rest


def test_changed_secret_changes_the_digest_and_an_unknown_one_is_asked_for():
    one = stack({"x": vllm_seat(secrets=["T"])})
    first, second = rendered(one, secrets={"T": "a"}), rendered(one, secrets={"T": "b"})
    assert first.compose["services"]["x"]["labels"] != second.compose["services"]["x"]["labels"]
    offline = rendered(one)
    (file,) = [file for file in offline.files if file["secret"]]
    assert (file["content"], file["needs"]) == (None, ["T"])
    with pytest.raises(KeyError, match=r"x of stack s needs T: add them to gpu_seats_secrets"):
        rendered(one, secrets={})


def test_retired_services_are_not_in_the_file_and_dormant_ones_are():
    made = rendered(
        stack({"x": vllm_seat(), "old": vllm_seat(state="retired", reason="lost"), "idle": vllm_seat(state="dormant")})
    )
    assert sorted(made.compose["services"]) == ["idle", "x"]
    assert made.services["idle"]["run"] == "stopped"
    assert [check["seat"] for check in made.checks] == ["x"]


def test_stack_without_seats_is_checked_too():
    made = rendered(stack(services={"web": service(ports=[{"host": 5001, "container": 5001}])}))
    (check,) = made.checks
    assert (check["kind"], check["engine"], check["port"], check["served_name"]) == ("service", "none", 5001, None)


def test_rendered_stack_is_plain_data():
    data = rendered(stack({"x": vllm_seat()})).as_dict()
    assert json.loads(json.dumps(data)) == data


SCALARS = st.one_of(ANY_TEXT, st.integers(), st.booleans(), st.none())
ANY_DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY_TEXT, inner, max_size=3)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(ANY_TEXT, ANY_DATA, max_size=5))
@example({'a"b\n': ['{"c": "d"}\n', "no\n"], "no": {}, "key\n": []})
def test_yaml_text_reads_back_as_what_went_in(mapping):
    assert yaml.safe_load(yaml_text(mapping)) == mapping


def test_value_without_a_yaml_form_is_refused():
    with pytest.raises(TypeError, match="write it as text"):
        yaml_text({"a": 1.5})


@given(ANY_TEXT)
def test_dollars_are_doubled_once(text):
    assert compose_escaped({"a": [text]}) == {"a": [text.replace("$", "$$")]}


@given(st.dictionaries(st.from_regex(r"[A-Z]{1,5}", fullmatch=True), ANY_TEXT, max_size=4))
def test_env_file_has_one_line_a_name_or_refuses(values):
    if any("\0" in value or "\r" in value for value in values.values()):
        with pytest.raises(EnvValueError):
            env_file_text(values)
    else:
        text = env_file_text(values)
        assert all(f"{name}=" in text for name in values)
        assert text == env_file_text(dict(reversed(values.items())))


def test_refused_secret_is_named_and_not_shown():
    with pytest.raises(EnvValueError, match="secret TOKEN holds a NUL") as caught:
        env_file_text({"TOKEN": "s3cr3t\r"})
    assert "s3cr3t" not in str(caught.value)
