"""Findings about the management controller (BMC) and the power that it tells of."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "bmc.auth_failed": FindingKind(
        "error",
        "The BMC answers, and refuses the login or what the user may do. Most lock an account after some such tries.",
        "Compare user, password and privilege with ipmitool user list 1; do not repeat it in a loop.",
    ),
    "bmc.busy": FindingKind(
        "warning",
        "The BMC had no answer to a request: it is busy, still starting, or out of sessions. The value is unknown.",
        "Ask again in a minute. If it stays so, restart the BMC: ipmitool mc reset cold.",
    ),
    "bmc.last_power_event": FindingKind(
        "warning",
        "The host's last loss of power was not a command: overload, fault, interlock, or the supply failed.",
        "Compare its time with the log of the site's circuit, and gpu-seats power --site SITE with what it carried.",
    ),
    "bmc.no_device": FindingKind(
        "warning",
        "The host's own way to its BMC (/dev/ipmi0) is not there or may not be opened.",
        "modprobe ipmi_si ipmi_devintf, as root; a virtual machine or container has none: ask over the network.",
    ),
    "bmc.no_power_sensor": FindingKind(
        "warning",
        "No sensor of the BMC gives the watts of the whole machine.",
        "Name the right sensor when there is one (ipmitool sdr elist full), or measure with a clamp meter.",
    ),
    "bmc.not_asked": FindingKind(
        "error",
        "What is declared of the way to the BMC leads to none: an address or a part of the login is missing, or two "
        "settings contradict each other.",
        "Correct the gpu_seats_bmc_* variables of the host, or set gpu_seats_bmc_interface to none.",
    ),
    "bmc.password_exposed": FindingKind(
        "warning",
        "Others on the host can read the file with the BMC's password, and who has it can switch the machine off.",
        "chown root and chmod 600 the file; change the password in the BMC where others have accounts on the host.",
    ),
    "bmc.password_too_long": FindingKind(
        "error",
        "IPMI takes 20 bytes of a password, its older form (lan) 16; ipmitool refuses a longer one.",
        "Give the BMC's user a password of at most 20 bytes (16 with interface lan).",
    ),
    "bmc.power_deactivated": FindingKind(
        "warning",
        "The BMC says that its power measurement is switched off. The number beside it is no measurement.",
        "Switch it on in the BMC (ipmitool dcmi power activate), or rely on its sensors.",
    ),
    "bmc.power_event": FindingKind(
        "warning",
        "The BMC logged a power event: input lost, a supply or redundancy failed, overcurrent, power down.",
        "Check cords, supplies and the circuit at the logged time; the host may have run on one supply since.",
    ),
    "bmc.power_fault": FindingKind(
        "error",
        "The BMC reports a power fault of the chassis that is there now.",
        "Look at the supplies and their input; take load off the host before the other supply fails too.",
    ),
    "bmc.power_unsupported": FindingKind(
        "warning",
        "This BMC does not answer the DCMI power request: the board has no DCMI or no power meter.",
        "Nothing: its sensors in watts are read instead. Where there are none, measure with a clamp meter.",
    ),
    "bmc.reading_implausible": FindingKind(
        "warning",
        "A reading is the highest number that its field can hold, which BMCs give for no value.",
        "Read it again; compare with ipmitool sensor get NAME.",
    ),
    "bmc.reading_zero": FindingKind(
        "warning",
        "The BMC gives 0 W for a machine that runs: no measurement, not a load of 0 W.",
        "Rely on its sensors in watts, or measure with a clamp meter.",
    ),
    "bmc.request_failed": FindingKind(
        "warning",
        "The BMC refused a request; what it would say is unknown.",
        "Run the command of the evidence by hand and read its text.",
    ),
    "bmc.sel_full": FindingKind(
        "warning",
        "The BMC's event log is full: newer events, a lost input among them, are not in it.",
        "Save it (ipmitool sel save FILE), then ipmitool sel clear.",
    ),
    "bmc.sensor_unreadable": FindingKind(
        "info",
        "A sensor in watts gives no value; what it would add is unknown, not 0 W.",
        "Check whether that supply is there and has input; an empty bay reads like this too.",
    ),
    "bmc.unreachable": FindingKind(
        "warning",
        "The BMC can't be reached, so its reading is unknown.",
        "ping its address, check that IPMI over LAN is enabled and UDP port 623 open; restart it when it hangs.",
    ),
}
