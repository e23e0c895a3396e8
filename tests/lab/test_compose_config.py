"""What is rendered means to the real Compose what it means here: every file of stacks/ comes back unchanged."""

from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

import yaml

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.plan.names import compose_name
from gpu_seats.render.env_file import env_file_text
from gpu_seats.render.stack import RenderedStack, render_stack
from gpu_seats.render.yaml_text import compose_yaml

PROJECT = Path(__file__).resolve().parents[2]
STACKS_DIRS = [PROJECT / "stacks", PROJECT / "lab" / "stacks"]


def secret_of(stack: str, name: str) -> str:
    """A value that an env file must protect: $, both quotes, a backslash, a comment sign, a line break."""
    return f"{stack}-{name} $HOME ${{x}} \"a\" 'b' c\\n # d\nlast\\"


def rendered_fleet() -> list[tuple[RenderedStack, dict[str, dict[str, str]]]]:
    """Every stack that can be rendered, with the secrets of each service."""
    fleet = load_fleet(PROJECT, None, STACKS_DIRS)
    found = []
    for host in fleet.hosts:
        plan = plan_deployment(fleet, host, select(fleet, "all"))
        for stack_plan in plan.stacks:
            stack = fleet.stacks[stack_plan.stack]
            per_service = {
                name: {secret: secret_of(stack.stack, secret) for secret in workload.secrets}
                for name, workload in stack.workloads.items()
            }
            every = {name: value for values in per_service.values() for name, value in values.items()}
            found.append((render_stack(fleet, host, stack_plan, plan.device_ids, every), per_service))
    return found


def files_of(stack: RenderedStack) -> dict[str, str]:
    """The stack's files for one directory of the test: env files beside the Compose file, paths made relative."""
    files = {"compose.yaml": stack.compose_text}
    for number, file in enumerate(one for one in stack.files if one["secret"]):
        files[f"{number}.env"] = file["content"]
        moved = f"@DIR@/{stack.name}/{number}.env"
        files["compose.yaml"] = files["compose.yaml"].replace(file["path"], moved)
    return files


def unescaped(value: Any) -> Any:
    """Compose prints its own escaping of ``$`` again."""
    if isinstance(value, str):
        return value.replace("$$", "$")
    if isinstance(value, dict):
        return {key: unescaped(item) for key, item in value.items()}
    return [unescaped(item) for item in value] if isinstance(value, list) else value


def as_rendered(config: dict[str, Any]) -> dict[str, Any]:
    """Compose's JSON without what it adds for its own use, in the form that we write.

    It prints ``bind: {}`` for ``create_host_path: false`` (the zero value), and empty keys that nobody wrote.
    """
    config = unescaped(config)
    for network in (config.get("networks") or {}).values():
        network.pop("ipam", None)
    for service in config["services"].values():
        for key in ("command", "entrypoint"):
            if service.get(key, "") is None:
                del service[key]
        (service.get("deploy") or {}).pop("placement", None)
        for volume in service.get("volumes") or ():
            volume["bind"].setdefault("create_host_path", False)
    return config


def as_compose_reads(stack: RenderedStack, secrets: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The rendered mapping after Compose took the values of the env files into the environment."""
    expected: dict[str, Any] = {"name": stack.compose["name"], "services": {}}
    if "networks" in stack.compose:
        expected["networks"] = stack.compose["networks"]
    for name, service in stack.compose["services"].items():
        service = {key: value for key, value in service.items() if key != "env_file"}
        if secrets[name]:
            service["environment"] = {**secrets[name], **service.get("environment", {})}
        expected["services"][name] = service
    return expected


def test_every_rendered_stack_comes_back_unchanged(compose):
    stacks = rendered_fleet()
    assert len(stacks) >= 20
    configs = compose.config({stack.name: files_of(stack) for stack, _ in stacks})
    for stack, secrets in stacks:
        assert as_rendered(configs[stack.name]) == as_compose_reads(stack, secrets), stack.name


def test_text_in_is_text_out_for_labels_environment_and_commands(compose):
    """Texts that YAML 1.1 and 1.2 read differently, that interpolation touches, or that quoting could lose."""
    texts = [
        *(
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "true",
            "null",
            "~",
            "",
            " ",
            "1.10",
            "012",
            "0o17",
            "0x1F",
            "1e3",
            "1_000",
        ),
        *("22:22", "12:30:45", "2026-11-30", ".5", ".inf", "-", "- a", "? a", ": a", "a: b", "a #b", "#c", "&a", "*a"),
        *("!t", "|", ">", "%d", "@x", "`x`", "{a: b}", "[a]", "'", '"', "''", "\"a\" 'b'", "\\", "\\n", "a\\", "\ttab"),
        *("$", "$$", "$HOME", "${HOME}", "$$HOME", "${HOME:-x}", "a$", '{"cpu_offload": true}', "line\nbreak", "end\n"),
        *("\n\nx", "trailing ", "é", "日本", "\u00a0", "\u2028", "\x85", "\x7f", "\x01", "😀", "\ufeff"),
    ]
    labels = {f"label.{index}": text for index, text in enumerate(texts)}
    environment = {f"V{index}": text for index, text in enumerate(texts)}
    service = {"image": "x", "command": texts, "environment": environment, "labels": labels, "network_mode": "host"}
    text = compose_yaml({"name": "texts", "services": {"a": service}}, "stacks/texts/stack.yml")
    config = unescaped(compose.config({"texts": {"compose.yaml": text}})["texts"]["services"]["a"])
    assert (config["command"], config["environment"], config["labels"]) == (texts, environment, labels)


def test_generated_texts_come_back_and_both_yaml_readers_agree(compose):
    generator = random.Random(20261130)
    alphabet = string.printable.replace("\r", "").replace("\x0b", "").replace("\x0c", "") + "$$$'''\"\"\"\\\\\\éß日"
    texts = ["".join(generator.choices(alphabet, k=generator.randint(0, 24))) for _ in range(400)]
    service = {
        "image": "x",
        "environment": {f"V{index}": text for index, text in enumerate(texts)},
        "network_mode": "host",
    }
    text = compose_yaml({"name": "many", "services": {"a": service}}, "stacks/many/stack.yml")
    config = unescaped(compose.config({"many": {"compose.yaml": text}})["many"]["services"]["a"])
    assert config["environment"] == service["environment"]
    assert unescaped(yaml.safe_load(text))["services"]["a"] == service


def test_secrets_reach_the_container_exactly(compose):
    generator = random.Random(54371)
    alphabet = string.ascii_letters + string.digits + string.punctuation + " \t\n" + "$$$$''''\"\"\"\"\\\\\\\\####é日"
    values = ["".join(generator.choices(alphabet, k=generator.randint(0, 32))) for _ in range(600)]
    values += [
        "",
        " ",
        "'",
        '"',
        "\\",
        "\\\\",
        "\\'",
        '\\"',
        "$",
        "$$",
        "$HOME",
        "${HOME}",
        "a'b\"c",
        "x\\",
        "'x\\",
        "# x",
    ]
    values += [
        "a\n",
        "\n",
        "'\n",
        "'\\n",
        "$2b$12$Pg8A.R",
        "'$2b$12$Pg8A.R'",
        "\\$HOME'",
        "a=b",
        " lead",
        "trail ",
        "`x`",
    ]
    secrets = {f"S{index}": value for index, value in enumerate(values)}
    service = {"image": "x", "env_file": ["@DIR@/secrets/a.env"], "network_mode": "host"}
    text = compose_yaml({"name": "secrets", "services": {"a": service}}, "stacks/secrets/stack.yml")
    files = {"compose.yaml": text, "a.env": env_file_text(secrets)}
    environment = unescaped(compose.config({"secrets": files})["secrets"]["services"]["a"]["environment"])
    wrong = {name: (secrets[name], environment.get(name)) for name in secrets if environment.get(name) != secrets[name]}
    assert wrong == {}


def test_project_name_of_a_directory_is_the_one_compose_gives(compose):
    """A directory without ``name:`` in its file, as old deployments have them."""
    generator = random.Random(9216)
    names = {"qwen3.5-122b", "gpu01.lan", "01-llm", "a_b", "_x", "-x", "--", "A.B", "ü1", "x y", "..a", "3.5", "a..b-"}
    names |= {"".join(generator.choices("abXY01.._-- +é", k=generator.randint(1, 12))) for _ in range(60)}
    names = {name for name in names if compose_name(name) and name not in (".", "..")}
    text = yaml.safe_dump({"services": {"a": {"image": "x"}}})
    configs = compose.config({name: {"compose.yaml": text} for name in names})
    assert {name: configs[name]["name"] for name in names} == {name: compose_name(name) for name in names}
