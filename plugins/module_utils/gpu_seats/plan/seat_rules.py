"""Rules of one workload that need no host: facts that are missing, engine options that contradict each other."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..declare.problems import did_you_mean
from ..declare.seat import Seat, VllmOptions
from ..findings import Finding, finding
from .vllm_builds import Build, build_facts, build_of, has_feature, known_features
from .vllm_flags import FlagTables, flag_problems, tables_for
from .vllm_options import POOLING_TASKS

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..declare.workload import Workload
    from .placement import Placed

_PARALLEL_FLAGS = ("pipeline-parallel-size", "data-parallel-size")
_OWNED_LABELS = ("gpu-seats.", "com.docker.compose.")
_TILE_LABELS = frozenset(f"homepage.{key}" for key in ("group", "name", "href", "icon", "description", "weight"))


def missing_facts(workload: Workload) -> list[str]:
    """Keys without which the workload cannot be rendered."""
    missing = [] if workload.image is not None else ["image"]
    if isinstance(workload, Seat):
        if workload.engine == "llamacpp" and workload.model.path is None:
            missing.append("model.path")
        if workload.engine == "vllm" and workload.model.path is None and workload.model.repo is None:
            missing.append("model.path (or model.repo)")
    return missing


def seat_findings(one: Placed) -> list[Finding]:
    """Everything that is wrong with one workload by itself."""
    workload = one.workload
    if workload.state == "retired":
        return []
    missing = missing_facts(workload)
    if missing:
        runs = workload.state in ("serving", "on_demand")
        code = "seat.incomplete" if runs else "seat.dormant_incomplete"
        text = f"{one.name} ({workload.state}) does not declare {' and '.join(missing)}, so it cannot be rendered"
        return [finding(code, one.subject, text, {"stack": one.stack})]
    found = _label_findings(one)
    if isinstance(workload, Seat) and workload.engine in ("vllm", "llamacpp") and workload.command is not None:
        text = f"{one.name} sets command, but the command line of a {workload.engine} seat is made from its options"
        found.append(finding("seat.command_overridden", one.subject, text, {"stack": one.stack}))
    if isinstance(workload, Seat) and workload.engine == "vllm":
        found += _vllm_findings(one, workload)
    elif workload.needs:
        text = f"{one.name} needs {', '.join(workload.needs)}, and features are known of vLLM images only"
        found.append(finding("seat.feature_unknown", one.subject, text, {"stack": one.stack}))
    return found


def _label_findings(one: Placed) -> list[Finding]:
    has_tile = one.workload.homepage is not None
    problems = [(label, why) for label in sorted(one.workload.labels) if (why := _label_problem(label, has_tile))]
    return [
        finding("seat.label_reserved", one.subject, f"label {label} of {one.name}: {why}", {"stack": one.stack})
        for label, why in problems
    ]


def _label_problem(label: str, has_tile: bool) -> str:
    """Why a label cannot be declared by hand; further ``homepage.*`` keys (widgets) may stand beside a tile."""
    if label.startswith(_OWNED_LABELS):
        return "it says whose the container is, and is written by the deployment"
    if label in _TILE_LABELS:
        return "it is written from the key homepage; set it there"
    if label.startswith("homepage.") and not has_tile:
        return "a tile needs a group and a name: declare the key homepage"
    if label.startswith("homepage") and not label.startswith("homepage."):
        return "Homepage takes it for one of its own and shows an empty tile; choose another name"
    return ""


def _vllm_findings(one: Placed, seat: Seat) -> list[Finding]:
    options = seat.vllm or VllmOptions()
    build = build_of(seat.image or "", options.build_date)
    tables = tables_for(build)
    needed = list(dict.fromkeys([*seat.needs, *(["engram_cpu_offload"] if options.engram else [])]))
    found = [problem for feature in needed for problem in _feature_findings(one, seat, build, feature)]
    granted = _granted_flags(build)
    problems = flag_problems(options.flags, tables, granted)
    found += [
        finding(
            "seat.flag_refused" if problem.sure else "seat.flag_unsure",
            one.subject,
            f"vllm.flags.{problem.flag} of {one.name} {problem.message}",
            {"stack": one.stack, "image": seat.image, "value": options.flags[problem.flag]},
        )
        for problem in problems
    ]
    if build.kind in ("unknown", "nightly") and build.date is None:
        text = f"{one.name}: {build.reason}; its flags are held against vLLM {tables.nearest.version}"
        found.append(finding("seat.build_unknown", one.subject, text, {"stack": one.stack, "image": seat.image}))
    found += _pinned_kv_findings(one, options)
    found += _speculation_findings(one, options, tables)
    found += _parallel_findings(one, seat, options)
    return found + _choice_findings(one, seat, options, tables)


def _granted_flags(build: Build) -> frozenset[str]:
    """Flags that `build` is known to have by a feature, also where its nearest tables disagree."""
    features = build_facts()["features"]
    return frozenset(
        flag for name, known in features.items() if has_feature(build, name)[0] == "yes" for flag in known["flags"]
    )


def _feature_findings(one: Placed, seat: Seat, build: Build, feature: str) -> list[Finding]:
    evidence = {"stack": one.stack, "image": seat.image, "feature": feature}
    if feature not in known_features():
        advice = did_you_mean(feature, known_features()) or f"known: {', '.join(known_features())}"
        text = f"{one.name} needs {feature}, a feature that nobody described; {advice}"
        return [finding("seat.feature_unknown", one.subject, text, evidence)]
    has, why = has_feature(build, feature)
    if has == "yes":
        return []
    if has == "no":
        text = f"{one.name} needs {feature}, and {seat.image} does not have it: {why}"
        return [finding("seat.feature_missing", one.subject, text, evidence)]
    text = f"{one.name} needs {feature}, and whether {seat.image} has it is not known: {why}"
    return [finding("seat.feature_unverified", one.subject, text, evidence)]


def _pinned_kv_findings(one: Placed, options: VllmOptions) -> list[Finding]:
    if options.kv_cache_memory is None or options.max_num_batched_tokens is not None:
        return []
    text = (
        f"{one.name} pins kv_cache_memory, so vLLM skips memory profiling, and without max_num_batched_tokens nothing "
        "bounds the memory of a long prefill"
    )
    return [finding("vram.unbounded_activations", one.subject, text, {"stack": one.stack})]


def _speculation_findings(one: Placed, options: VllmOptions, tables: FlagTables) -> list[Finding]:
    """k above the checkpoint's number of MTP layers runs the layers again, so it must be a multiple of it."""
    speculative = options.speculative
    if speculative is None:
        return []
    found = []
    methods = tables.nearest.rows.get("--spec-method", {}).get("choices") or []
    if methods and speculative.method not in methods:
        near = did_you_mean(speculative.method, [str(method) for method in methods if method])
        text = f"{one.name}: {speculative.method} is no speculation method of vLLM {tables.nearest.version}; {near}"
        severity = "" if tables.exact else "warning"
        found.append(finding("seat.speculation_refused", one.subject, text, {"stack": one.stack}, severity=severity))
    if not speculative.method.endswith("mtp"):
        return found
    k, layers = speculative.num_speculative_tokens, speculative.mtp_layers
    if layers is None and k > 1:
        text = f"{one.name} speculates {k} tokens, and how many MTP layers its checkpoint has is not declared"
        found.append(finding("seat.speculation_unchecked", one.subject, text, {"stack": one.stack}))
    if layers is not None and k > layers and k % layers:
        below, above = k - k % layers, k - k % layers + layers
        text = (
            f"{one.name} speculates {k} tokens with {layers} MTP layers: above {layers} it must be a multiple of it, "
            f"{below} or {above}"
        )
        found.append(finding("seat.speculation_refused", one.subject, text, {"stack": one.stack}))
    return found


def _parallel_findings(one: Placed, seat: Seat, options: VllmOptions) -> list[Finding]:
    """Workers x cards: every card that is named gets one worker, and no worker is without a card."""
    sizes = {"tensor_parallel_size": options.tensor_parallel_size or 0}
    sizes.update({flag: value for flag in _PARALLEL_FLAGS if isinstance(value := options.flags.get(flag), int)})
    workers = 1
    for size in sizes.values():
        workers *= size or 1
    if not any(sizes.values()) or workers == len(seat.gpus) or (not seat.gpus and workers == 1):
        return []
    shown = " x ".join(f"{name} {size}" for name, size in sizes.items() if size)
    text = f"{one.name} has {shown} = {workers} workers and {len(seat.gpus)} cards ({', '.join(seat.gpus) or 'none'})"
    return [finding("seat.parallel_mismatch", one.subject, text, {"stack": one.stack})]


def _choice_findings(one: Placed, seat: Seat, options: VllmOptions, tables: FlagTables) -> list[Finding]:
    found = []
    pools = options.runner == "pooling"
    if options.runner is not None and pools is not (seat.task in POOLING_TASKS):
        text = f"{one.name} does {seat.task}, and its runner is {options.runner}"
        found.append(finding("seat.runner_mismatch", one.subject, text, {"stack": one.stack}))
    dtype = options.kv_cache_dtype
    known = tables.nearest.rows.get("--kv-cache-dtype", {}).get("choices")
    if dtype is not None and known and dtype not in known:
        near = did_you_mean(dtype, known) or f"known: {', '.join(known)}"
        text = f"vllm.kv_cache_dtype of {one.name}: {dtype} is none that vLLM {tables.nearest.version} takes; {near}"
        code = "seat.flag_refused" if tables.exact else "seat.flag_unsure"
        found.append(finding(code, one.subject, text, {"stack": one.stack, "image": seat.image}))
    return found


def tile_findings(placed: Collection[Placed]) -> list[Finding]:
    """Dashboard tiles of one group and name: Homepage merges them into one, and one link is lost."""
    tiles: dict[tuple[str, str], list[Placed]] = defaultdict(list)
    for one in placed:
        if one.workload.homepage is not None and one.workload.state in ("serving", "on_demand"):
            tiles[one.workload.homepage.group, one.workload.homepage.name].append(one)
    return [
        finding(
            "seat.tile_repeated",
            owners[-1].subject,
            f"the Homepage tile {group} / {name} is declared by {' and '.join(one.name for one in owners)}",
        )
        for (group, name), owners in tiles.items()
        if len(owners) > 1
    ]
