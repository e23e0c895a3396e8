"""Findings about what seats claim: VRAM, host RAM."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "vram.overcommitted": FindingKind(
        "error",
        "The serving workloads of a card claim more than the card holds after the driver's reserve. One of them would "
        "fail in the middle of a request, or not start after the next boot.",
        "Lower a claim (and the engine option behind it), move a seat to another card, or set one to dormant.",
    ),
    "vram.claim_unknown": FindingKind(
        "error",
        "A workload uses a card and nothing says how much of it. Counting it as nothing would over-fill the card.",
        "Declare claim.vram: what nvidia-smi shows at its peak, or the cap you give it.",
    ),
    "vram.claim_too_small": FindingKind(
        "warning",
        "The declared claim is less than what the engine's own options make it take.",
        "Raise claim.vram to the engine's figure, or lower gpu_memory_utilization or kv_cache_memory.",
    ),
    "vram.no_such_card": FindingKind(
        "error",
        "A workload names a card that its host does not declare.",
        "Name a card of the host file by its key, in quotes.",
    ),
    "vram.reserved": FindingKind(
        "error",
        "A card that is kept empty for a full-size seat was given to a smaller one. Even a small tenant eats into the "
        "profiling margin of the seat that the card is kept for.",
        "Choose another card, or change the card's reserve in the host file (with its reason).",
    ),
    "vram.tenant_undeclared": FindingKind(
        "error",
        "An on-demand workload uses a reserved card and does not say to whom it yields.",
        "Add on_demand: {yields_to: full-size, reason: ...} to the workload.",
    ),
    "vram.tenant_does_not_fit": FindingKind(
        "error",
        "An on-demand workload does not fit on its card beside the serving ones.",
        "Lower its claim, move it, or let it yield to one of the seats there.",
    ),
    "vram.tenant_displaced": FindingKind(
        "info",
        "An on-demand workload yields to a seat that serves on its card, so it stays down.",
        "Nothing, or move the workload where on_demand.lands_on says.",
    ),
    "vram.tenant_must_yield": FindingKind(
        "error",
        "An on-demand workload was asked to start on a card where a seat serves that it yields to.",
        "Start it where on_demand.lands_on says, or set that seat to dormant first.",
    ),
    "vram.tenant_steps_aside": FindingKind(
        "warning",
        "An on-demand workload runs on a card that a seat now takes to which it yields: it is stopped first.",
        "Nothing, unless the workload is in use: then wait, or deploy the seat later.",
    ),
    "vram.tenant_lands_nowhere": FindingKind(
        "warning",
        "The card where an on-demand workload would go when it yields is not declared, or has no room for it.",
        "Correct on_demand.lands_on, or leave it out: then the workload stops.",
    ),
    "vram.total_sized_neighbour": FindingKind(
        "warning",
        "vLLM without pinned KV bytes sizes its cache by the card's total memory, not by what is free, so a tenant "
        "that comes and goes on that card can keep it from starting.",
        "Pin kv_cache_memory of the seat, or give the tenant another card.",
    ),
    "vram.not_enough_free": FindingKind(
        "error",
        "nvidia-smi measures less free memory on the card than the seat claims, with the memory of the container that "
        "is replaced counted as coming back.",
        "Find who holds the memory (the evidence lists the processes) and stop it, or wait until it is freed.",
    ),
    "vram.stranger": FindingKind(
        "warning",
        "A process that belongs to no declared workload holds memory on the card.",
        "Find it by its pid on the host; stop it, or declare it.",
    ),
    "vram.unmeasured": FindingKind(
        "warning",
        "The free memory of a card is not known, so only the declared claims were checked.",
        "See the card's own findings; run nvidia-smi on the host.",
    ),
    "vram.utilisation_over_share": FindingKind(
        "error",
        "With pinned KV bytes vLLM still refuses to start unless total x utilisation is free, and the declared "
        "utilisation asks for more than the other seats of the card leave.",
        "Leave gpu_memory_utilization out (the claim's share is then used) or lower it.",
    ),
    "vram.unbounded_activations": FindingKind(
        "error",
        "kv_cache_memory makes vLLM skip memory profiling and ignore the utilisation; only max_num_batched_tokens then "
        "bounds the activation peak.",
        "Set vllm.max_num_batched_tokens (8192 is a common value).",
    ),
    "ram.overcommitted": FindingKind(
        "error",
        "The serving workloads claim more host RAM than the host has after its reserve.",
        "Lower a claim, move a seat to another host, or set one to dormant.",
    ),
    "ram.claim_too_small": FindingKind(
        "warning",
        "A pinned n-gram table takes the next power of two of its size in host RAM, and the claim is below that.",
        "Raise claim.host_ram to at least the rounded table, plus the engine's own few GiB.",
    ),
    "ram.claim_unknown": FindingKind(
        "error",
        "A seat pins a table in host RAM and nothing says how large it is.",
        "Declare claim.host_ram, or vllm.engram.table.",
    ),
    "ram.not_enough_free": FindingKind(
        "warning",
        "The host has less memory available than what starts may take. The ZFS cache (ARC) counts as used and yields, "
        "so this is no refusal.",
        "Find who holds it (free -h, arcstat) if the seat is killed while it loads.",
    ),
    "ram.other_than_declared": FindingKind(
        "info",
        "The host shows less RAM than its file declares, so what is available was not held against the claims.",
        "Correct ram in the host file, or look for a memory module that is gone (dmidecode -t memory).",
    ),
}
