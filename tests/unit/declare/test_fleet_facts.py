"""The fleet in this repository says what its two documents say: every container, port, state, figure and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.declare.fleet import Fleet, load_fleet
from gpu_seats.declare.seat import Seat
from gpu_seats.declare.workload import Workload
from gpu_seats.plan.power.caps import declared_caps

ROOT = Path(__file__).parents[3]
DORMANT = (
    "mistral-medium-3.5", "mistral-small-4", "mistral-small-4-heretic", "ms32-24b-angel", "qwen3.5-122b",
    "qwopus3.5-122b", "qwen35-vl", "qwen36-vl", "qwen36-27b-aeon", "qwen-image-bench", "vibevoice", "comfyui", "kokoro",
    "vllm-qwen3",
)  # fmt: skip
RETIRED = ("selene", "semif", "llama-swap", "infinity", "librechat", "searxng", "augaman")


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load_fleet(ROOT)


def container(fleet: Fleet, name: str) -> tuple[str, Workload]:
    found = [(stack.stack, w) for stack, key, w in fleet.workloads() if (w.container_name or key) == name]
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


def host_port(workload: Workload) -> int | None:
    if isinstance(workload, Seat):
        return workload.port
    return workload.ports[0].host if workload.ports else None


@pytest.mark.parametrize(
    ("name", "port", "stack", "state", "cards"),
    [
        ("vllm-gen", 8015, "gen-seat", "serving", ["0"]),
        ("vllm-charrp-reasoning-nvfp4", 8018, "charrp-reasoning", "serving", ["0"]),
        ("parakeet", 8300, "parakeet", "serving", ["0"]),
        ("vllm-coder", None, "coder", "serving", ["1"]),
        ("vllm-erp-seat", None, "erp-seat", "serving", ["1"]),
        ("vllm-meromero-rp", None, "meromero-rp", "serving", ["1"]),
        ("intern-decision", 8033, "intern-decision", "serving", ["1"]),
        ("flash-next", 8022, "flash-next-seat", "serving", ["2"]),
        ("blender", None, "blender", "on_demand", ["3"]),
        ("scriberr", None, "scriberr", "on_demand", ["3"]),
        ("dockge", 5001, "dockge", "serving", []),
        ("dozzle-agent", 7007, "dozzle-agent", "serving", []),
        ("beszel-agent", 45876, "beszel-agent", "serving", []),
        ("vllm-granite", 8004, "granite", "dormant", ["1"]),
        ("llama-charrp", 8016, "charrp", "dormant", ["1"]),
        ("vllm-reward", 8003, "vllm", "dormant", ["1"]),
        ("vllm-embed", 8001, "vllm", "dormant", ["1"]),
        ("vllm-rerank", 8002, "vllm", "dormant", ["1"]),
        ("vllm-selene", 8011, "selene", "retired", ["1"]),
        ("semif", 8032, "semif", "retired", []),
        ("llama-swap", 9292, "llama-swap", "retired", []),
    ],
)
def test_each_container_of_the_documents(
    fleet: Fleet, name: str, port: int | None, stack: str, state: str, cards: list[str]
) -> None:
    where, workload = container(fleet, name)
    assert (where, workload.state, list(workload.gpus)) == (stack, state, cards)
    if port is None:  # the documents give none: then the record has to say so
        assert {"port", "ports"} & set(workload.assumed)
    else:
        assert host_port(workload) == port


@pytest.mark.parametrize(
    ("seat", "served", "quantization", "context"),
    [
        ("gen", "qwen3.8-27b-uncensored", "NVFP4 W4A16 (compressed-tensors)", 262144),
        ("char-rp-reasoning", "char-rp-reasoning", "NVFP4 (modelopt)", 262144),
        ("granite", "granite-4.1-8b", "FP8 (compressed-tensors)", 131072),
        ("reward", "Skywork-Reward-V2-Llama-3.1-8B-AWQ", "AWQ", 16384),
        ("embed", "Qwen3-Embedding-0.6B", "", 8192),
        ("rerank", "Qwen3-Reranker-0.6B", "", 8192),
        ("char-rp", "Magidonia-24B-v4.3", "GGUF Q6_K", None),
        ("flash-next", "qwen3.8-flash-next", "NVFP4 W4A4", 262144),
    ],
)
def test_each_served_model(fleet: Fleet, seat: str, served: str, quantization: str, context: int | None) -> None:
    declared = fleet.seat(seat)[1]
    assert declared.model.served_name == served
    assert (declared.model.quantization or "").startswith(quantization)
    assert (declared.vllm.max_model_len if declared.vllm else None) == context


@pytest.mark.parametrize("name", DORMANT)
def test_dormant_stacks(fleet: Fleet, name: str) -> None:
    assert {workload.state for workload in fleet.stacks[name].workloads.values()} == {"dormant"}


@pytest.mark.parametrize("name", RETIRED)
def test_retired_stacks_say_why(fleet: Fleet, name: str) -> None:
    workloads = fleet.stacks[name].workloads.values()
    assert {workload.state for workload in workloads} == {"retired"}
    assert all(workload.reason for workload in workloads)


def test_librechat_went_with_all_its_parts(fleet: Fleet) -> None:
    assert set(fleet.stacks["librechat"].services) == {"librechat", "rag_api", "vectordb", "mongodb", "meilisearch"}


def test_thirteen_containers_run_when_the_tenants_do(fleet: Fleet) -> None:
    """The count of healthy containers after the patch of 2026-10-08."""
    states = [workload.state for _, _, workload in fleet.workloads("fv-ml1")]
    assert states.count("serving") + states.count("on_demand") == 13


@pytest.mark.parametrize(
    ("alias", "seat"),
    [
        ("gen-large", "flash-next"),
        ("gen", "gen"),
        ("chat-judge", "gen"),
        ("char-rp-reasoning", "char-rp-reasoning"),
        ("ext-stt", "parakeet"),
        ("whisper-1", "parakeet"),
        ("summarizer", "granite"),
        ("classifier", "granite"),
        ("selene-1-mini-8b", "selene"),
    ],
)
def test_each_alias_of_the_documents(fleet: Fleet, alias: str, seat: str) -> None:
    assert alias in fleet.seat(seat)[1].gateway


def test_gen_large_is_for_both_keys_with_the_checkpoints_sampling(fleet: Fleet) -> None:
    alias = fleet.seat("flash-next")[1].gateway["gen-large"]
    assert (list(alias.keys), alias.sampling) == (["infra-ops", "all-agents"], "from-checkpoint")


def test_flash_next_as_measured(fleet: Fleet) -> None:
    seat = fleet.seat("flash-next")[1]
    assert seat.vllm is not None and seat.vllm.engram is not None
    assert (seat.image, list(seat.needs)) == ("vllm/vllm-openai:v0.29.1rc0", ["engram_cpu_offload"])
    assert (seat.model.repo, seat.model.revision) == ("dealignai/Qwen3.8-Flash-Next-ABLITERATED-NVFP4", "be794b99")
    assert seat.model.weights == pytest.approx(74.36 * 1024)
    assert seat.vllm.kv_cache_memory == 14 * 1024
    assert seat.vllm.activation_peak == pytest.approx(1.65 * 1024)
    assert seat.vllm.max_num_batched_tokens == 8192
    assert seat.vllm.engram.table == pytest.approx(47.7 * 1024)
    assert (seat.claim.vram, seat.claim.host_ram) == (93 * 1024, 67 * 1024)
    assert sum(seat.model.composition.values()) == pytest.approx(seat.model.disk, abs=0.11 * 1024)


def test_the_budget_of_card_1(fleet: Fleet) -> None:
    """97,887 MiB: 217 spare at intern-decision's peak, 6,625 free with it at rest."""
    gpu = fleet.hosts["fv-ml1"].gpus["1"]
    claims = {name: w.claim for _, name, w in fleet.workloads("fv-ml1") if "1" in w.gpus and w.state == "serving"}
    intern = claims.pop("intern-decision")
    others = sum(claim.vram or 0 for claim in claims.values())
    assert others == 81810
    assert (intern.vram, intern.vram_at_rest) == (15220, 8812)
    assert gpu.vram - gpu.driver_reserve - others - 15220 == 217
    assert gpu.vram - gpu.driver_reserve - others - 8812 == 6625


def test_the_seats_of_card_0_commit_what_the_page_says(fleet: Fleet) -> None:
    seats = [seat for _, _, seat in fleet.seats("fv-ml1") if "0" in seat.gpus and seat.vllm]
    assert sum(seat.vllm.gpu_memory_utilization or 0 for seat in seats if seat.vllm) == pytest.approx(0.88)
    assert container(fleet, "parakeet")[1].claim.vram == 800


def test_card_3_is_kept_empty_and_its_tenants_yield(fleet: Fleet) -> None:
    reserve = fleet.hosts["fv-ml1"].gpus["3"].reserve
    assert reserve is not None and reserve.tenants == "on_demand"
    assert reserve.full_size_from <= 93 * 1024
    on_card = {name: w for _, name, w in fleet.workloads("fv-ml1") if "3" in w.gpus}
    assert set(on_card) == {"blender", "scriberr"}
    assert all(w.on_demand and w.on_demand.yields_to == "full-size" for w in on_card.values())
    assert on_card["scriberr"].on_demand and on_card["scriberr"].on_demand.lands_on == "irv-ml1/0"
    assert on_card["blender"].claim.vram_at_rest == 270


def test_each_host_of_the_documents(fleet: Fleet) -> None:
    assert {name: host.site for name, host in fleet.hosts.items()} == {
        "fv-ml1": "fv",
        "fv-edge": "fv",
        "irv-ml1": "irv",
        "ana-docker": "ana",
        "nh3-dev": "nh3",
        "sf-r630": "sf",
    }
    assert fleet.hosts["sf-r630"].other_names == ["sfsrv-ana"]
    assert set(fleet.hosts["irv-ml1"].unmanaged) == {"tts", "comfyui", "arbo", "clipper"}


def test_fv_ml1_as_its_page_has_it(fleet: Fleet) -> None:
    host = fleet.hosts["fv-ml1"]
    assert (host.address, host.bmc and host.bmc.address) == ("10.251.50.54", "10.251.250.50")
    assert (host.kernel, host.docker, host.driver) == ("6.12.111", "29.8.2", "580.178.04")
    assert (host.software["zfs"], host.software["nvidia-container-toolkit"], host.psus) == ("2.3.9", "1.20.1", 4)
    assert [gpu.vram for gpu in host.gpus.values()] == [97887] * 4
    assert {
        (g.power_limits.min, g.power_limits.default, g.power_limits.max) for g in host.gpus.values() if g.power_limits
    } == {(250, 300, 325)}
    assert {gpu.driver_reserve for gpu in host.gpus.values()} == {640}
    assert host.pools["tank"].drives == len(host.drives) == 8
    assert host.drives["nvme7"].media_errors == 2084
    assert len({drive.serial for drive in host.drives.values()}) == 8
    assert host.bmc and host.bmc.vault == "ana-ml2/bmc-infra-ops"


def test_the_circuit_of_fv_as_its_page_has_it(fleet: Fleet) -> None:
    """What its sum is, with its loads, is a test of the planner."""
    circuit = fleet.sites["fv"].circuits["fv-20a"]
    assert (circuit.absolute_watts, circuit.continuous_watts) == (2400, 1920)
    assert {name: one.in_use for name, one in fleet.sites["fv"].circuits.items()} == {
        "fv-20a": True,
        "fv-ups-inlet": False,
        "fv-ups": False,
    }
    caps = declared_caps(fleet.hosts["fv-ml1"])
    assert [(one.card, one.limit_watts, one.ceiling_watts, one.default_watts) for one in caps.values()] == [
        (card, 275, 300, 300) for card in "0123"
    ]
    assert {one.uuid for one in caps.values()} == {gpu.uuid for gpu in fleet.hosts["fv-ml1"].gpus.values()}
    assert all("325 W is the firmware's ceiling" in one.reason for one in caps.values())
    assert declared_caps(fleet.hosts["irv-ml1"]) == {}


def test_what_no_document_gives_is_marked(fleet: Fleet) -> None:
    """Placeholders must not read as facts."""
    assert "gpus" in fleet.hosts["fv-ml1"].assumed
    for stack, name, workload in fleet.workloads():
        if workload.image and name != "flash-next":
            assert "image" in workload.assumed, f"{stack.stack}/{name}: no document names an image"
    for name in ("coder", "erp", "meromero"):
        assert "claim.vram" in fleet.seat(name)[1].assumed


def test_where_the_documents_disagree_both_statements_are_kept(fleet: Fleet) -> None:
    for name in ("granite", "char-rp", "embed", "rerank", "reward"):
        dates = [note.date.isoformat() for note in fleet.seat(name)[1].notes]
        assert dates == sorted(dates) and dates[0] == "2026-07-22" and "2026-09-27" in dates


def test_no_two_workloads_that_may_run_share_a_port(fleet: Fleet) -> None:
    for host in fleet.hosts:
        ports = [host_port(w) for _, _, w in fleet.workloads(host) if w.state != "retired" and host_port(w)]
        assert len(ports) == len(set(ports))


def test_nothing_carries_an_address_from_before_the_renumber(fleet: Fleet) -> None:
    """16 dashboard links once pointed at a dead address; here links are made from the host's own."""
    former = fleet.hosts["fv-ml1"].former_names
    assert {"10.250.50.54", "scriberr.ana.internal"} <= set(former)
    for path in sorted(ROOT.glob("stacks/*/stack.yml")):
        outside_prose = [line for line in path.read_text(encoding="utf-8").splitlines() if "10.250.50.54" in line]
        assert outside_prose == [], path


def test_every_stack_says_why_it_is_there() -> None:
    for path in sorted(ROOT.glob("stacks/*/stack.yml")):
        readme = path.with_name("README.md")
        assert readme.is_file() and len(readme.read_text(encoding="utf-8")) > 60, path.parent.name
