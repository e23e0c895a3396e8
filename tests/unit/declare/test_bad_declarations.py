"""Every kind of bad input is one clear line: file, line, key, the value as written, what is allowed, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_project import (
    HOST,
    HOST_FILE,
    SITE,
    SITE_FILE,
    STACK,
    STACK_FILE,
    TENANT,
    problems,
    spoilt,
    write_project,
)

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.problems import DeclarationError

TENANT_FILE = "stacks/blender/stack.yml"
SEAT = "seats.flash-next"
CASES = {
    "text for a port": (
        (STACK_FILE, STACK, "port: 8022", 'port: "80x"'),
        (14, f"{SEAT}.port", ['"80x" is not a whole number', "1 to 65535", "for example port: 8022"]),
    ),
    "quoted port": (
        (STACK_FILE, STACK, "port: 8022", 'port: "8022"'),
        (14, f"{SEAT}.port", ["is not a whole number", "write 8022 without quotes"]),
    ),
    "port out of range": (
        (STACK_FILE, STACK, "port: 8022", "port: 90000"),
        (14, f"{SEAT}.port", ["90000 is not in the allowed range", "1 to 65535"]),
    ),
    "truth value as port": (
        (STACK_FILE, STACK, "port: 8022", "port: true"),
        (14, f"{SEAT}.port", ["true is not a whole number", "1 to 65535"]),
    ),
    "no as card": (
        (STACK_FILE, STACK, '["2"]', "[no]"),
        (13, f"{SEAT}.gpus[0]", ["YAML 1.1 reads no as false", 'fv-ml1, in quotes: "2", "3"', "quotes"]),
    ),
    "number as card": (
        (STACK_FILE, STACK, '["2"]', "[2]"),
        (13, f"{SEAT}.gpus[0]", ["2 is not text", '"2", "3"', "quotes"]),
    ),
    "float as card": (
        (STACK_FILE, STACK, '["2"]', "[1.10]"),
        (13, f"{SEAT}.gpus[0]", ["reads 1.10 as the number 1.1 and drops the last zero", "quotes"]),
    ),
    "card that is not there": (
        (STACK_FILE, STACK, '["2"]', '["7"]'),
        (13, f"{SEAT}.gpus[0]", ['"7" is no card of fv-ml1', '"2", "3"']),
    ),
    "card named twice": (
        (STACK_FILE, STACK, '["2"]', '["2", "2"]'),
        (13, f"{SEAT}.gpus[1]", ["named twice"]),
    ),
    "cards not in a list": (
        (STACK_FILE, STACK, '["2"]', '"2"'),
        (13, f"{SEAT}.gpus", ["is not a list", 'write gpus: ["2"]']),
    ),
    "count instead of ids": (
        (STACK_FILE, STACK, 'gpus: ["2"]', "count: 1"),
        (13, f"{SEAT}.count", ["cards are pinned by id", "write gpus"]),
    ),
    "ids by hand": (
        (STACK_FILE, STACK, 'gpus: ["2"]', 'gpus: ["2"]\n    device_ids: ["2"]'),
        (14, f"{SEAT}.device_ids", ["made from gpus", "remove device_ids"]),
    ),
    "neither count nor ids nor gpus": (
        (STACK_FILE, STACK, 'gpus: ["2"]', "reason: none"),
        (5, SEAT, ["the key gpus is missing", 'cards of fv-ml1: "2", "3"', "[] for a seat on the CPU"]),
    ),
    "unknown key": (
        (STACK_FILE, STACK, "port: 8022", "prot: 8022"),
        (14, f"{SEAT}.prot", ["the key prot is not known here", "did you mean port"]),
    ),
    "unknown key of a block": (
        (STACK_FILE, STACK, "max_model_len", "max_model_length"),
        (19, f"{SEAT}.vllm.max_model_length", ["not known here", "did you mean max_model_len"]),
    ),
    "missing key": (
        (STACK_FILE, STACK, "    engine: vllm\n", ""),
        (5, f"{SEAT}.engine", ["the key is missing", "vllm, llamacpp, other"]),
    ),
    "unknown state": (
        (STACK_FILE, STACK, "state: serving", "state: servng"),
        (6, f"{SEAT}.state", ["servng is not one of the known values", "dormant, retired", "did you mean serving?"]),
    ),
    "unknown engine": (
        (STACK_FILE, STACK, "engine: vllm", "engine: vlm"),
        (7, f"{SEAT}.engine", ["vllm, llamacpp, other", "did you mean vllm?"]),
    ),
    "size without a unit": (
        (STACK_FILE, STACK, "93GiB", "93"),
        (15, f"{SEAT}.claim.vram", ["93 is not a size", "GiB"]),
    ),
    "broken size without a unit": (
        (STACK_FILE, STACK, "93GiB", "93.5"),
        (15, f"{SEAT}.claim.vram", ["93.5 is not a size", "GiB"]),
    ),
    "size in a unit that is none": (
        (STACK_FILE, STACK, "14GiB", "14G"),
        (21, f"{SEAT}.vllm.kv_cache_memory", ["'14G' is not a size", "GiB"]),
    ),
    "utilisation over one": (
        (STACK_FILE, STACK, "0.90", "90.0"),
        (20, f"{SEAT}.vllm.gpu_memory_utilization", ["not in the allowed range", "more than 0 and at most 1"]),
    ),
    "version read as a number": (
        (STACK_FILE, STACK, "be794b99", "1.10"),
        (12, f"{SEAT}.model.revision", ["1.10 is not text", "drops the last zero", 'write revision: "1.10"']),
    ),
    "version in free data": (
        (STACK_FILE, STACK, "{seed: 1}", "{version: 1.10}"),
        (23, f"{SEAT}.vllm.flags.version", ["reads 1.10 as the number 1.1", '"1.10" in quotes']),
    ),
    "date as text": (
        (STACK_FILE, STACK, "LEVEL: info", "LEVEL: 2026-01-02"),
        (16, f"{SEAT}.environment.LEVEL", ["as a date", 'write LEVEL: "2026-01-02"']),
    ),
    "exponent as number": (
        (STACK_FILE, STACK, "262144", "2e5"),
        (19, f"{SEAT}.vllm.max_model_len", ["YAML 1.1 reads 2e5 as text, YAML 1.2 as the number 200000"]),
    ),
    "yes as truth value": (
        (STACK_FILE, STACK, "cpu_offload: true", "cpu_offload: yes"),
        (22, f"{SEAT}.vllm.engram.cpu_offload", ["YAML 1.1 reads yes as true", "write true"]),
    ),
    "octal port": (
        (STACK_FILE, STACK, "port: 8022", "port: 017526"),
        (14, f"{SEAT}.port", ["as the octal number 8022", "plain decimal"]),
    ),
    "base 60": (
        (STACK_FILE, STACK, "port: 8022", "port: 22:22"),
        (14, f"{SEAT}.port", ["base 60"]),
    ),
    "empty value": (
        (STACK_FILE, STACK, "port: 8022", "port:"),
        (14, f"{SEAT}.port", ["is no value", "remove the key"]),
    ),
    "key twice": (
        (STACK_FILE, STACK, "port: 8022", "port: 8022\n    port: 8023"),
        (15, f"{SEAT}.port", ["stands twice (first in line 14)"]),
    ),
    "template": (
        (STACK_FILE, STACK, "one seat", '"{{ summary }}"'),
        None,
    ),
    "template as value": (
        (STACK_FILE, STACK, "/tank/aimodels/flash-next", '"/tank/{{ model }}"'),
        (11, f"{SEAT}.model.path", ["is a template", "write the value itself"]),
    ),
    "template without quotes": (
        (STACK_FILE, STACK, "port: 8022", "port: {{ port }}"),
        (14, "", ["is a template"]),
    ),
    "interpolation in environment": (
        (STACK_FILE, STACK, "LEVEL: info", 'LEVEL: "${LEVEL}"'),
        (16, f"{SEAT}.environment.LEVEL", ["nothing is interpolated", "secrets"]),
    ),
    "number in environment": (
        (STACK_FILE, STACK, "LEVEL: info", "LEVEL: 3"),
        (16, f"{SEAT}.environment.LEVEL", ["3 is not text", 'write LEVEL: "3"']),
    ),
    "secret in the open": (
        (STACK_FILE, STACK, "[TOKEN]", "[LEVEL]"),
        (17, f"{SEAT}.secrets[0]", ["also stands in environment"]),
    ),
    "image without a version": (
        (STACK_FILE, STACK, "vllm/vllm-openai:v0.29.1rc0", "vllm/vllm-openai:latest"),
        (8, f"{SEAT}.image", ["does not pin a version", "latest"]),
    ),
    "image of a registry with a port and no tag": (
        (STACK_FILE, STACK, "vllm/vllm-openai:v0.29.1rc0", "registry.test:5000/vllm"),
        (8, f"{SEAT}.image", ["does not pin a version"]),
    ),
    "no image": (
        (STACK_FILE, STACK, "    image: vllm/vllm-openai:v0.29.1rc0\n", ""),
        (5, SEAT, ["the key image is missing"]),
    ),
    "no port": (
        (STACK_FILE, STACK, "    port: 8022\n", ""),
        (5, SEAT, ["the key port is missing", "add port: 8022"]),
    ),
    "options of another engine": (
        (STACK_FILE, STACK, "engine: vllm", "engine: llamacpp"),
        (18, f"{SEAT}.vllm", ["options of vllm", "the engine of this seat is llamacpp", "set engine: vllm"]),
    ),
    "retired without a reason": (
        (STACK_FILE, STACK, "state: serving", "state: retired"),
        (5, SEAT, ["retired without a reason", "add reason"]),
    ),
    "unknown host": (
        (STACK_FILE, STACK, "host: fv-ml1", "host: fv-ml2"),
        (2, "host", ["fv-ml2 is no host that is declared", "fv-ml1", "did you mean fv-ml1?"]),
    ),
    "stack that is not called like its folder": (
        (STACK_FILE, STACK, "stack: flash-next-seat", "stack: flash-next"),
        (1, "stack", ["is not the name that its place gives", "flash-next-seat"]),
    ),
    "a former address": (
        (STACK_FILE, STACK, "LEVEL: info", "LEVEL: http://10.250.50.54:80"),
        (16, f"{SEAT}.environment.LEVEL", ["names 10.250.50.54, a former name of fv-ml1", "write 10.251.50.54"]),
    ),
    "assumed marks nothing": (
        (STACK_FILE, STACK, "    homepage:", "    assumed: {prot: a guess}\n    homepage:"),
        (26, f"{SEAT}.assumed.prot", ["there is no such key", "did you mean port"]),
    ),
    "on_demand without the state": (
        (STACK_FILE, STACK, "    homepage:", "    on_demand: {yields_to: full-size, reason: r}\n    homepage:"),
        (26, f"{SEAT}.on_demand", ["belongs to state on_demand, and the state is serving"]),
    ),
    "shm_size with host ipc": (
        (STACK_FILE, STACK, "    homepage:", "    resources: {ipc: host, shm_size: 8GiB}\n    homepage:"),
        (26, f"{SEAT}.resources.shm_size", ["has no effect with ipc: host"]),
    ),
    "yields to a seat that is none": (
        (TENANT_FILE, TENANT, "yields_to: full-size", "yields_to: flash-nxt"),
        (9, "services.blender.on_demand.yields_to", ["is no seat", "did you mean flash-next?"]),
    ),
    "lands on a host that is none": (
        (TENANT_FILE, TENANT, "lands_on: fv-ml1/2", "lands_on: fv-ml3/2"),
        (9, "services.blender.on_demand.lands_on", ["names no declared host", "fv-ml1"]),
    ),
    "lands on a card that is none": (
        (TENANT_FILE, TENANT, "lands_on: fv-ml1/2", "lands_on: fv-ml1/9"),
        (9, "services.blender.on_demand.lands_on", ["names no declared card", "fv-ml1/2, fv-ml1/3"]),
    ),
    "ports beside host networking": (
        (TENANT_FILE, TENANT, "    gpus:", "    network_mode: host\n    gpus:"),
        (11, "services.blender.ports", ["cannot be published with network_mode: host"]),
    ),
    "unknown site": (
        (HOST_FILE, HOST, "site: fv", "site: vf"),
        (3, "gpu_seats_host.site", ["vf is no site that is declared", "fv"]),
    ),
    "host called otherwise than its file": (
        (HOST_FILE, HOST, "host: fv-ml1", "host: fv-ml2"),
        (2, "gpu_seats_host.host", ["is not the name that its place gives", "fv-ml1"]),
    ),
    "a UUID that is none": (
        (HOST_FILE, HOST, "GPU-5e7a0002-c0de-4000-8000-000000000002", "GPU-5e7a"),
        (8, "gpu_seats_host.gpus.2.uuid", ["GPU-5e7a is not of the allowed form"]),
    ),
    "unknown kind of circuit": (
        (SITE_FILE, SITE, "kind: breaker", "kind: braker"),
        (5, "gpu_seats_site.circuits.main.kind", ["breaker, inlet, ups, pdu", "did you mean breaker?"]),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named_by_file_line_key_and_remedy(case: str, tmp_path: Path) -> None:
    (file, good, old, new), expected = CASES[case]
    found = problems(tmp_path, {file: spoilt(good, old, new)})
    if expected is None:
        assert found == [], "prose may hold braces"
        return
    line, key, texts = expected
    matching = [problem for problem in found if problem.key == key]
    assert matching, [str(problem) for problem in found]
    assert (matching[0].file, matching[0].line) == (file, line)
    text = str(matching[0])
    assert text.startswith(f"{file}:{line}: ")
    for part in texts:
        assert part in text
    assert len(found) == 1, [str(problem) for problem in found]


@pytest.mark.parametrize("case", CASES)
def test_no_message_speaks_of_the_library(case: str, tmp_path: Path) -> None:
    """An operator reads what to write, not what the validator calls it."""
    (file, good, old, new), _ = CASES[case]
    text = "\n".join(str(problem) for problem in problems(tmp_path, {file: spoilt(good, old, new)}))
    for jargon in ("Input should", "pydantic", "https://errors", "type=", "valid string", "validation error", "dict["):
        assert jargon not in text


def test_the_good_project_loads(tmp_path: Path) -> None:
    """The cases above fail for their one change and for nothing else."""
    fleet = load_fleet(write_project(tmp_path))
    assert list(fleet.stacks) == ["blender", "flash-next-seat"]
    stack, seat = fleet.seat("flash-next")
    assert (stack.stack, seat.port, seat.claim.vram) == ("flash-next-seat", 8022, 93 * 1024.0)
    assert fleet.where("stack:flash-next-seat", "seats", "flash-next", "port") == f"{STACK_FILE}:14"


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    """Nobody mends ten files in ten runs."""
    stack = spoilt(spoilt(STACK, "port: 8022", 'port: "80x"'), "engine: vllm", "engine: vlm")
    found = problems(tmp_path, {STACK_FILE: stack, HOST_FILE: spoilt(HOST, "275W", "275"), SITE_FILE: "- a\n"})
    assert [(problem.file, problem.line) for problem in found] == [
        (SITE_FILE, 1),
        (HOST_FILE, 19),
        (STACK_FILE, 7),
        (STACK_FILE, 14),
    ]


def test_problems_are_findings_too(tmp_path: Path) -> None:
    """A report shows them beside what is wrong on a host: one code, the file as subject, the same text."""
    with pytest.raises(DeclarationError) as caught:
        load_fleet(write_project(tmp_path, {STACK_FILE: spoilt(STACK, "port: 8022", 'port: "80x"')}))
    (found,) = caught.value.findings
    assert (found.code, found.subject, found.fails) == ("declaration.invalid", f"file:{STACK_FILE}", True)
    assert (found.message, found.evidence["line"]) == (str(caught.value), 14)


def test_count_with_device_ids_has_its_own_text(tmp_path: Path) -> None:
    text = spoilt(STACK, 'gpus: ["2"]', 'count: 1\n    device_ids: ["2"]')
    found = problems(tmp_path, {STACK_FILE: text})
    assert len(found) == 2
    assert all("exclude each other" in problem.message and "gpus" in problem.remedy for problem in found)


def test_a_faulty_host_file_is_no_unknown_host(tmp_path: Path) -> None:
    """One fault gives one message, not one more for each stack of that host."""
    found = problems(tmp_path, {HOST_FILE: spoilt(HOST, "vram: 97887MiB, uuid", "vram: 97887, uuid")})
    assert [problem.key for problem in found] == ["gpu_seats_host.gpus.2.vram"]


SECOND = """\
stack: second
host: fv-ml1
summary: another
seats:
  %s:
    state: %s
    reason: r
    engine: other
    image: other:1
    container_name: %s
    gpus: []
    port: 9000
    gateway: {%s: {}}
"""


@pytest.mark.parametrize(
    ("values", "key", "part"),
    [
        (("flash-next", "serving", "c", "a"), "seats.flash-next", "is declared already, in stacks/flash-next-seat"),
        (("blender", "serving", "c", "a"), "seats.blender", "has the name of another stack"),
        (("x", "serving", "flash-next", "a"), "seats.x.container_name", "is taken on fv-ml1 by flash-next-seat"),
        (("x", "dormant", "blender", "a"), "seats.x.container_name", "is taken on fv-ml1 by blender"),
        (("x", "serving", "c", "gen-large"), "seats.x.gateway.gen-large", "points at seat flash-next already"),
    ],
)
def test_a_name_is_given_once(values: tuple[str, ...], key: str, part: str, tmp_path: Path) -> None:
    found = problems(tmp_path, {"stacks/second/stack.yml": SECOND % values})
    matching = [problem for problem in found if problem.key == key]
    assert matching and part in str(matching[0]), [str(problem) for problem in found]


@pytest.mark.parametrize("values", [("x", "dormant", "c", "gen-large"), ("x", "retired", "flash-next", "gen-large")])
def test_what_does_not_run_may_keep_an_old_name(values: tuple[str, ...], tmp_path: Path) -> None:
    """A dormant seat keeps the alias that another took over; a retired one has also given its container name back."""
    assert problems(tmp_path, {"stacks/second/stack.yml": SECOND % values}) == []


def test_a_host_outside_the_inventory_is_named(tmp_path: Path) -> None:
    inventory = {"inventories/production/hosts.yml": "all: {children: {site_fv: {hosts: {other: }}}}\n"}
    found = problems(tmp_path, inventory)
    assert [problem.key for problem in found] == ["gpu_seats_host.host"]
    assert "no play reaches it" in found[0].message


def test_a_host_in_another_sites_group_is_named(tmp_path: Path) -> None:
    inventory = {"inventories/production/hosts.yml": "all: {children: {site_irv: {hosts: {fv-ml1: }}}}\n"}
    found = problems(tmp_path, inventory)
    assert [(problem.key, problem.allowed) for problem in found] == [("gpu_seats_host.site", "the one group site_fv")]


@pytest.mark.parametrize("name", ["compose.yaml", "stack.yaml", None])
def test_a_folder_without_its_declaration_is_named(name: str | None, tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "stacks/lost").mkdir()
    if name:
        (tmp_path / "stacks/lost" / name).write_text("a: b\n")
    with pytest.raises(DeclarationError) as caught:
        load_fleet(tmp_path)
    text = str(caught.value)
    assert text.startswith("stacks/lost: has no stack.yml")
    assert (f"rename {name} to stack.yml" in text) == bool(name)


def test_no_inventory_at_all_is_one_clear_fault(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError) as caught:
        load_fleet(tmp_path)
    assert [problem.file for problem in caught.value.problems] == ["inventories/production", "stacks"]


def test_vault_files_and_other_variables_are_none_of_ours(tmp_path: Path) -> None:
    """host_vars may be a directory with a vault beside the declaration."""
    write_project(tmp_path)
    host_vars = tmp_path / "inventories/production/host_vars"
    (host_vars / "fv-ml1.yml").unlink()
    (host_vars / "fv-ml1").mkdir()
    (host_vars / "fv-ml1/host.yml").write_text(HOST)
    (host_vars / "fv-ml1/vault.yml").write_text("$ANSIBLE_VAULT;1.1;AES256\n6162\n")
    (host_vars / "printer.yml").write_text("colour: !unsafe '{{ x }}'\n")
    assert list(load_fleet(tmp_path).hosts) == ["fv-ml1"]


def test_two_stack_directories_may_not_hold_one_name(tmp_path: Path) -> None:
    write_project(tmp_path, {"lab/stacks/blender/stack.yml": TENANT})
    with pytest.raises(DeclarationError, match=r"lab/stacks/blender/stack\.yml: is a second stack named blender"):
        load_fleet(tmp_path, stacks_dirs=[Path("stacks"), Path("lab/stacks")])
