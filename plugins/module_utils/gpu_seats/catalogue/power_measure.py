"""Findings of power measurements: load that is raised and watched, and the files that samples are written to."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "power.card_over_cap": FindingKind(
        "error",
        "A card draws more than its cap, or may: every sum over the circuit counts with the cap. The load was ended.",
        "Bring the caps back (ansible-playbook playbooks/power.yml), see that they hold, and measure again.",
    ),
    "power.clamp_unclear": FindingKind(
        "warning",
        "The clamp meter's figure does not tell whether the BMC reads what the supplies take (AC) or give (DC).",
        "Say what the clamp was around (-e clamp_at=host, or a device of the site's tree) and read it at full load.",
    ),
    "power.load_ended": FindingKind(
        "error",
        "A load ended before its step did, so the step was measured without it; all load was ended.",
        "A command: run it by hand on one card for the time of a step; it must stay in the foreground. Requests: see"
        " that the seat runs and answers (gpu-seats status), bring it up, or leave its cards out (-e cards=...).",
    ),
    "power.load_not_stopped": FindingKind(
        "critical",
        "The load of a measurement was ended, and the cards still draw as if it was not: something runs on unwatched.",
        "Look at once what holds the cards (nvidia-smi) and end it; a load command must not leave processes behind.",
    ),
    "power.load_weak": FindingKind(
        "warning",
        "Cards stayed well below their caps, so the highest step is not the most that the host can draw.",
        "Measure again with a load that fills the cards (-e load_command=...), or more requests at once.",
    ),
    "power.load_without_effect": FindingKind(
        "error",
        "A load ran and its card drew no more than before it, so nothing was loaded; the step is not measured.",
        "Run the load by hand and look at nvidia-smi: does it use this card (index or UUID), and does it work at all?",
    ),
    "power.log_not_on_pool": FindingKind(
        "info",
        "Samples go to another disk than the pool that the host file names: below a pool that is not mounted, files are"
        " hidden as soon as it is.",
        "Look whether the pool is mounted (zpool status); power_measure_folder names another place.",
    ),
    "power.log_torn": FindingKind(
        "info",
        "Lines of a sample file do not prove themselves: a run was cut off while it wrote. The other lines stand.",
        "Nothing to do; more than one line a run points at the disk.",
    ),
    "power.log_unwritable": FindingKind(
        "error",
        "The file of samples takes no line, so nothing would be left of a power cut; the load was ended.",
        "Look at the pool (zpool status) and its free room, then measure again: it goes on at the step that was open.",
    ),
    "power.measure_blind": FindingKind(
        "error",
        "What the host or a card draws could not be seen for more than one sample; the load was ended.",
        "Look at nvidia-smi and the BMC on the host; measure again when both answer.",
    ),
    "power.measure_busy": FindingKind(
        "error",
        "A measurement runs on this host already; two would load the same cards.",
        "Wait for it, or end it on the host: systemctl stop gpu-seats-power-measure ends its load first. One whose"
        " controller is gone ends by itself within a minute.",
    ),
    "power.measure_complete": FindingKind(
        "error",
        "The same was measured to its end already, so nothing was loaded: nobody asked to load it twice.",
        "Nothing; -e fresh=true measures anew, -e clamp_watts= and -e clamp_at= add a clamp meter's reading to it.",
    ),
    "power.measure_ended": FindingKind(
        "error",
        "The measurement was ended from outside before all steps were measured; the load was ended with it.",
        "Run it again: it goes on at the step that was open.",
    ),
    "power.measure_not_started": FindingKind(
        "error",
        "The measurement could not be started, or there is none to look at.",
        "The message says what the host refused.",
    ),
    "power.measure_over_threshold": FindingKind(
        "error",
        "The host drew more than the stop threshold, which is what the smallest device above it may carry for hours.",
        "Correct the declared figures by what was measured; do not raise the threshold above the device's limit.",
    ),
    "power.measure_step_refused": FindingKind(
        "error",
        "By what is declared, a step of the measurement would put more on a device than it may carry for hours.",
        "The arithmetic stands in the message: lower the caps, take load off the circuit, or correct a figure.",
    ),
    "power.measured_without_bmc": FindingKind(
        "warning",
        "The BMC gave no watts at the highest step, so only the cards were measured and the machine stays as declared.",
        "Give the host a way to its BMC (gpu_seats_bmc_user, gpu_seats_bmc_password_file) and measure again.",
    ),
}
