"""Findings about watts: what protective devices carry, and what the cards' limits are."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "power.above_worst_case": FindingKind(
        "error",
        "A machine draws more than the worst case that its site is added up with, so the sum of every device above it "
        "is too low.",
        "Correct its figures in the host file (power.under_load, power.baseline) by a measurement: "
        "playbooks/power-measure.yml. Load nothing more on the circuit until then.",
    ),
    "power.cap_above_ceiling": FindingKind(
        "error",
        "A card's declared limit is above the ceiling that its host declares for caps, so the circuit's sums do not "
        "hold. The firmware's own maximum is no operating point.",
        "Lower the cap (power.caps in the host file), or calculate the circuit anew, then raise the ceiling.",
    ),
    "power.cap_above_stock": FindingKind(
        "error",
        "A card's declared limit is above its stock limit without a dated reason. That is an overclock, on a circuit "
        "that was calculated for less.",
        "Lower the cap to power_limits.default, or add power.caps.above_stock with the day and the reason.",
    ),
    "power.cap_below_min": FindingKind(
        "error",
        "A card's declared limit is below what the card takes: nvidia-smi refuses it, and the card runs at stock.",
        "Declare a cap between power_limits.min and power_limits.max of the card.",
    ),
    "power.cap_lost": FindingKind(
        "error",
        "A card's limit is no longer the declared one: something set another, or the driver was loaded anew. The "
        "circuit was calculated with the cap.",
        "ansible-playbook playbooks/power.yml sets it again; on the host systemctl start gpu-seats-power-watch.service "
        "does, and its journal says when it went.",
    ),
    "power.cap_not_held": FindingKind(
        "error",
        "A cap was set, nvidia-smi named no refusal, and the card reads another limit: the card may draw more than its "
        "circuit was calculated for.",
        "Set it by hand (nvidia-smi -i <uuid> -pl <watts>) and read it back. Load nothing on the card until it holds.",
    ),
    "power.cap_unreadable": FindingKind(
        "error",
        "The card gives no value for its power limit, so whether its cap holds is not known. It is not 0 W.",
        "nvidia-smi -q -d POWER -i <uuid>. Count the card at its highest limit until it can be read.",
    ),
    "power.caps_not_checked": FindingKind(
        "error",
        "No card was looked at, so a cap that is lost now is neither seen nor set again: the host's file of caps can't "
        "be used, or another run holds the lock.",
        "A file of caps: ansible-playbook playbooks/power.yml writes it anew. A lock: see what the process waits for "
        "that holds it (lsof, with the path).",
    ),
    "power.card_not_capped": FindingKind(
        "error",
        "A card that has a declared cap could not be asked or set: it may run at its stock limit.",
        "Clear the finding of the card or driver beside this one; the caps are then set again by themselves.",
    ),
    "power.card_undeclared": FindingKind(
        "warning",
        "A card is in the machine that the host's caps do not name: nobody counts what it draws.",
        "Declare it under gpus and let power.caps cover it, then look at gpu-seats power for what the circuit carries.",
    ),
    "power.circuit_claimed_twice": FindingKind(
        "error",
        "A host claims a circuit for itself alone, and something else hangs below the same device. Its budget is then "
        "counted as if the other load were not there.",
        "Remove power.circuit_alone of one host, or move the other load to a circuit of its own.",
    ),
    "power.correlated_recovery": FindingKind(
        "warning",
        "One device carries both a load that can overload it and the way in that would repair the failure (the edge "
        "router, or the management controller of the host). When it gives, the site locks itself out.",
        "Separate the two: the router and the management controller on one feed, the cards' machine on another "
        "(feed_proposal in the site file).",
    ),
    "power.literal_watts": FindingKind(
        "warning",
        "A watt number stands outside the declaration of power. A copy stays as it is when the cap changes, and then "
        "somebody runs it.",
        "Remove the number and refer to power.caps of the host file, the one place of caps and their reasons.",
    ),
    "power.load_unknown": FindingKind(
        "error",
        "What a load takes is not declared, so the sum of every device above it is not known. Nothing new is loaded on "
        "a circuit whose sum nobody knows.",
        "Declare its watts: power.baseline and power.under_load of a host with cards, power_limits or power.caps of a "
        "card, loads.<name>.watts of anything else.",
    ),
    "power.not_on_a_circuit": FindingKind(
        "error",
        "The site declares its circuits, and this load hangs below none of them that is in use: nobody counts it.",
        "Add it to feeds of the device that it is plugged into (group_vars/site_<site>.yml).",
    ),
    "power.over_absolute": FindingKind(
        "critical",
        "The worst case below a device is above its full rating: it trips or shuts down under that load, and takes "
        "everything below it along.",
        "Load fewer cards at once, lower their caps, or move loads to another feed; "
        "gpu-seats power --site SITE --what-if tells what each would give.",
    ),
    "power.over_continuous": FindingKind(
        "error",
        "The worst case below a device is above what it may carry for hours. Inference is a continuous load.",
        "Load fewer cards at once, lower their caps, or move loads to another feed; "
        "gpu-seats power --site SITE --what-if tells what each would give.",
    ),
    "power.over_possible": FindingKind(
        "warning",
        "The worst case fits, and the high end of what is not measured does not.",
        "Measure the figures that are estimates (playbooks/power-measure.yml), or keep fewer cards loaded until then.",
    ),
}
