"""Findings about cards and their driver."""

from __future__ import annotations

from .kind import FindingKind

_LOST_REMEDY = (
    "Stop the seats of this card, read the kernel log for Xid lines, power the host off and on (a warm reboot is often"
    " not enough). The other cards are still there: ask for them one by one with nvidia-smi -i <uuid>."
)

KINDS: dict[str, FindingKind] = {
    "gpu.lost": FindingKind(
        "critical",
        "A card has dropped off the bus or does not answer. nvidia-smi then stops at it and lists no other card.",
        _LOST_REMEDY,
    ),
    "gpu.handle_error": FindingKind(
        "error",
        "The driver could not open a card or read a value of it; a card that fails so often fails wholly soon.",
        "Ask for this card alone (nvidia-smi -i <uuid> -q) and read the kernel log; reset or reboot when it repeats.",
    ),
    "gpu.not_listed": FindingKind(
        "error",
        "A card that should be there is not in the list.",
        "Compare UUIDs and bus ids with the host's declaration; look for Xid lines in the kernel log.",
    ),
    "gpu.cards_unseen": FindingKind(
        "error",
        "The driver could not be asked for its cards, so no seat that needs one is started or recreated: a running"
        " engine often goes on with a broken driver, and a new one does not start.",
        "Clear the driver's own finding first, then deploy again.",
    ),
    "gpu.reset_required": FindingKind(
        "error",
        "A card asks for a reset before it computes correctly again.",
        "Stop its seats, then nvidia-smi -r -i <uuid>; reboot when the reset is refused.",
    ),
    "gpu.no_devices": FindingKind(
        "critical",
        "The driver answers and sees no card at all.",
        "Check lspci for the cards, then the kernel log; in a container, check its device request.",
    ),
    "gpu.driver_mismatch": FindingKind(
        "critical",
        "User space was upgraded while the old kernel module stays loaded. Running jobs go on, new ones fail. How many"
        " cards there are is unknown, not zero.",
        "Reboot, or unload and load the modules with all seats stopped. Then hold every nvidia package, not only the"
        " metapackage, so that it does not happen again.",
    ),
    "gpu.driver_unreachable": FindingKind(
        "critical",
        "nvidia-smi can't reach the kernel driver: it is not loaded or not built for this kernel.",
        "dkms status for the running kernel must say installed; then modprobe nvidia and read the kernel log.",
    ),
    "gpu.driver_library_missing": FindingKind(
        "error",
        "The NVML library is missing where it was looked for.",
        "Install the package that brings libnvidia-ml of the driver's version; in a container check the toolkit.",
    ),
    "gpu.driver_fault": FindingKind(
        "critical",
        "The driver or its firmware failed on a card.",
        "Save the kernel log (nvidia-bug-report.sh), stop the card's seats and reboot the host.",
    ),
    "gpu.memory_fault": FindingKind(
        "error",
        "A card reports a memory fault that it could not hide.",
        "Stop the card's seats, reset it, then watch its ECC and remapped-row counters; replace it when they grow.",
    ),
    "gpu.xid": FindingKind(
        "error",
        "The driver reported a fault of a card or of a program on it.",
        "Look the Xid number up in NVIDIA's list; numbers of application faults point at the program first.",
    ),
    "gpu.container_lost_device": FindingKind(
        "error",
        "NVML answers Unknown Error. In a container this is a lost device: systemd re-applied its device rules after a"
        " daemon-reload. The health check may stay green.",
        "Restart the container. Then use CDI, or the cgroupfs driver, so that a daemon-reload can't do it again. On the"
        " host itself, treat it as a lost card.",
    ),
    "gpu.access_blocked": FindingKind(
        "error",
        "The operating system blocks access to the cards.",
        "Check device permissions, cgroup rules and secure boot; under WSL update the Windows driver.",
    ),
    "gpu.permission_denied": FindingKind(
        "error",
        "The user may not do this with a card.",
        "Run it as root; inside a rented virtual machine only its provider may.",
    ),
    "gpu.query_field_unknown": FindingKind(
        "warning",
        "This driver does not know a field, and refused the whole query because of it.",
        "Ask again without the field. It says nothing about the cards.",
    ),
    "gpu.query_refused": FindingKind(
        "error",
        "nvidia-smi does not take the arguments it was given.",
        "Compare them with nvidia-smi -h of this driver.",
    ),
    "gpu.power_limit_unsupported": FindingKind(
        "error",
        "This card's power limit can't be set; nvidia-smi prints a warning and often exits with 0.",
        "Do not declare a cap for this card; count its default limit in the circuit's budget.",
    ),
    "gpu.power_limit_refused": FindingKind(
        "error",
        "The card refused a power limit.",
        "Declare a limit inside the range in the evidence.",
    ),
    "gpu.setting_no_effect": FindingKind(
        "warning",
        'nvidia-smi printed "All done." without naming a change.',
        "Read the value back; trust only that.",
    ),
    "gpu.persistence_off": FindingKind(
        "warning",
        "Persistence mode is off: settings are lost whenever the last program leaves the card.",
        "Enable nvidia-persistenced.",
    ),
    "gpu.persistence_legacy": FindingKind(
        "info",
        "Persistence mode was set with nvidia-smi -pm, which is deprecated.",
        "Enable nvidia-persistenced; either way counts as on.",
    ),
    "gpu.persistence_refused": FindingKind(
        "warning",
        "The card's persistence mode could not be set.",
        "Enable nvidia-persistenced and read its journal.",
    ),
    "gpu.mig_enabled": FindingKind(
        "warning",
        "The card is split in MIG instances: no seat can have it as a whole, and whole-card use is not reported.",
        "Pin the seat to a MIG UUID, or turn MIG off with all seats of the card stopped.",
    ),
    "gpu.inforom_corrupted": FindingKind(
        "warning",
        "A card's infoROM is corrupted; it computes, but some of its facts are missing.",
        "Note it for the vendor; have the card replaced when errors follow.",
    ),
    "gpu.value_unknown": FindingKind(
        "info",
        "The tool gave no value for some facts of a card; they are unknown, not zero.",
        "Nothing, unless a declared rule needs the fact.",
    ),
    "gpu.table_not_parsed": FindingKind(
        "info",
        "The default table of nvidia-smi is for people: columns move and values are cut from release to release.",
        "Give the output of nvidia-smi --query-gpu=... --format=csv or nvidia-smi -q -x.",
    ),
    "gpu.none_requested": FindingKind(
        "error",
        "A device request names neither a count nor ids. Since Docker Engine 27.3 the container then gets no GPU,"
        " without an error.",
        "Write device_ids with the seat's cards and recreate the container.",
    ),
    "gpu.unpinned": FindingKind(
        "error",
        "A service asks for GPUs without naming which: it may land on a card that is full or reserved.",
        'Pin it: device_ids: ["2"] under deploy.resources.reservations.devices.',
    ),
    "gpu.pinned_by_index": FindingKind(
        "info",
        "A container is pinned by index. NVML promises no order over boots, so the number may mean another card.",
        "Check the index against the card's UUID after each boot, or pin by UUID.",
    ),
    "gpu.count_and_ids": FindingKind(
        "error",
        "count and device_ids are both given; Docker refuses that.",
        "Remove count and keep device_ids. On the command line quote the ids: --gpus '\"device=0,1\"'.",
    ),
    "gpu.count_invalid": FindingKind(
        "error",
        "The count of a device request is not a number and not the word all.",
        "Write a whole number without quotes, or better device_ids; check the type after templating.",
    ),
    "gpu.id_coerced": FindingKind(
        "error",
        "A GPU id was read by YAML as another type (no -> false, 1.0), so it names no card.",
        "Quote every id in device_ids.",
    ),
    "gpu.capability_missing": FindingKind(
        "error",
        "A device request lacks the gpu capability.",
        "Write capabilities: [gpu] in the request.",
    ),
    "gpu.runtime_missing": FindingKind(
        "error",
        "Docker Engine has no driver for the requested device.",
        "Compare docker info (runtimes, context) with daemon.json: when they differ, the engine was not restarted or"
        " another engine answers. Install the NVIDIA container toolkit only when neither knows it. Do not retry.",
    ),
    "gpu.cdi_unresolved": FindingKind(
        "error",
        "A CDI device is not described on this host.",
        "nvidia-ctk cdi list shows the names, nvidia-ctk cdi generate writes them again. Do not retry before.",
    ),
    "gpu.unknown_device": FindingKind(
        "error",
        "The NVIDIA runtime does not know the requested card.",
        "Compare device_ids with nvidia-smi -L: a card was lost, swapped or renumbered. Do not retry.",
    ),
    "gpu.driver_requirement": FindingKind(
        "error",
        "The image needs a newer driver than the host's.",
        "Choose an image for the host's driver, or plan a driver upgrade. Do not retry.",
    ),
    "gpu.container_toolkit_failed": FindingKind(
        "error",
        "The NVIDIA container runtime failed while it prepared the container.",
        "Run nvidia-container-cli -k -d /dev/tty info on the host and read where it stops.",
    ),
    "gpu.device_node_missing": FindingKind(
        "error",
        "A /dev/nvidia* node was not there when the container started, often because Docker started before the driver.",
        "Start it again once nvidia-smi answers; order docker.service after nvidia-persistenced. A retry is right.",
    ),
    "gpu.identity_mismatch": FindingKind(
        "error",
        "The card in the slot is not the declared one, or the declared card sits in another slot: it was exchanged or "
        "moved. Seats pinned to it would land on the wrong card.",
        "If that is meant, put the evidence's lines into the host file; else find out what was changed in the machine.",
    ),
    "gpu.index_keyed": FindingKind(
        "warning",
        "The card declares no UUID, so containers get it by index, and index order is not promised between boots.",
        "Add uuid and bus_id to the host file (nvidia-smi --query-gpu=index,uuid,pci.bus_id --format=csv).",
    ),
}
