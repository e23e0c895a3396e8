"""`nvidia-smi -q` and `-q -x`: one tree of labelled values, written as text or as XML."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Union
from xml.sax.saxutils import escape

from .reading import DEPRECATED, NA, Reading

UNSUPPORTED = "N/A"


@dataclass(frozen=True)
class Node:
    """tag: XML element. label: text label ('' = not in the text form). value: text or children."""

    tag: str
    label: str
    value: Union[str, list[Node]]


def watts(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2f} W"


def with_unit(value: float | int | str, unit: str) -> str:
    return value if isinstance(value, str) else f"{value} {unit}"


def power_nodes(r: Reading) -> list[Node]:
    return [
        Node("power_state", "", r.pstate),
        Node("average_power_draw", "Average Power Draw", watts(r.draw_w)),
        Node("instant_power_draw", "Instantaneous Power Draw", watts(r.draw_w)),
        Node("current_power_limit", "Current Power Limit", watts(r.enforced_w)),
        Node("requested_power_limit", "Requested Power Limit", watts(r.limit_w)),
        Node("default_power_limit", "Default Power Limit", watts(r.default_w)),
        Node("min_power_limit", "Min Power Limit", watts(r.min_w)),
        Node("max_power_limit", "Max Power Limit", watts(r.max_w)),
    ]


def process_nodes(r: Reading) -> list[Node]:
    return [
        Node(
            "process_info",
            "",
            [
                Node("gpu_instance_id", "GPU instance ID", NA),
                Node("compute_instance_id", "Compute instance ID", NA),
                Node("pid", "Process ID", str(claim.pid)),
                Node("type", "Type", "C"),
                Node("process_name", "Name", claim.process),
                Node("used_memory", "Used GPU Memory", f"{claim.mib} MiB"),
            ],
        )
        for claim in r.claims
        if claim.pid is not None
    ]


def gpu_nodes(r: Reading) -> list[Node]:
    card = r.card
    empty_power = [Node(n.tag, n.label, NA) for n in power_nodes(r)]
    busy = r.pstate == "P1"
    return [
        Node("product_name", "Product Name", card.name),
        Node("product_brand", "Product Brand", "NVIDIA RTX"),
        Node("product_architecture", "Product Architecture", "Blackwell"),
        Node("display_mode", "Display Mode", DEPRECATED),
        Node("display_attached", "Display Attached", "No"),
        Node("display_active", "Display Active", "Disabled"),
        Node("persistence_mode", "Persistence Mode", "Enabled" if r.persistent else "Disabled"),
        Node("addressing_mode", "Addressing Mode", "None"),
        Node(
            "mig_mode",
            "MIG Mode",
            [Node("current_mig", "Current", r.mig_mode), Node("pending_mig", "Pending", r.mig_mode)],
        ),
        Node("mig_devices", "", "None"),
        Node("serial", "Serial Number", card.serial.strip("[]")),
        Node("uuid", "GPU UUID", card.uuid),
        Node("minor_number", "Minor Number", str(card.index)),
        Node("vbios_version", "VBIOS Version", "98.02.8D.00.03"),
        Node("gpu_recovery_action", "GPU Recovery Action", "None"),
        Node("gsp_firmware_version", "GSP Firmware Version", r.driver_version),
        Node(
            "pci",
            "PCI",
            [
                Node("pci_bus", "Bus", card.bus_id[9:11]),
                Node("pci_device", "Device", "00"),
                Node("pci_domain", "Domain", card.bus_id[4:8]),
                Node("pci_device_id", "Device Id", "2BB410DE"),
                Node("pci_bus_id", "Bus Id", card.bus_id),
                Node("pci_sub_system_id", "Sub System Id", "204B10DE"),
            ],
        ),
        Node("fan_speed", "Fan Speed", with_unit(r.fan_percent, "%")),
        Node("performance_state", "Performance State", r.pstate),
        Node(
            "fb_memory_usage",
            "FB Memory Usage",
            [
                Node("total", "Total", f"{card.memory_total_mib} MiB"),
                Node("reserved", "Reserved", f"{card.reserve_mib} MiB"),
                Node("used", "Used", with_unit(r.used_mib, "MiB")),
                Node("free", "Free", with_unit(r.free_mib, "MiB")),
            ],
        ),
        Node("compute_mode", "Compute Mode", "Default"),
        Node(
            "utilization",
            "Utilization",
            [
                Node("gpu_util", "GPU", with_unit(r.util_percent, "%")),
                Node("memory_util", "Memory", with_unit(r.util_percent, "%")),
            ],
        ),
        Node(
            "ecc_mode",
            "ECC Mode",
            [Node("current_ecc", "Current", "Disabled"), Node("pending_ecc", "Pending", "Disabled")],
        ),
        Node(
            "temperature",
            "Temperature",
            [
                Node("gpu_temp", "GPU Current Temp", with_unit(r.temperature_c, "C")),
                Node("gpu_target_temperature", "GPU Target Temperature", "85 C"),
                Node("memory_temp", "Memory Current Temp", NA),
            ],
        ),
        Node("gpu_power_readings", "GPU Power Readings", power_nodes(r)),
        Node(
            "gpu_memory_power_readings",
            "GPU Memory Power Readings",
            [
                Node("average_power_draw", "Average Power Draw", NA),
                Node("instant_power_draw", "Instantaneous Power Draw", NA),
            ],
        ),
        Node("module_power_readings", "Module Power Readings", empty_power),
        Node(
            "clocks",
            "Clocks",
            [
                Node("graphics_clock", "Graphics", "2340 MHz" if busy else "180 MHz"),
                Node("sm_clock", "SM", "2340 MHz" if busy else "180 MHz"),
                Node("mem_clock", "Memory", "13365 MHz" if busy else "405 MHz"),
                Node("video_clock", "Video", "1980 MHz" if busy else "600 MHz"),
            ],
        ),
        Node("processes", "Processes", process_nodes(r)),
    ]


def xml_lines(node: Node, depth: int) -> list[str]:
    pad = "\t" * depth
    if isinstance(node.value, str):
        return [f"{pad}<{node.tag}>{escape(node.value)}</{node.tag}>"]
    if not node.value:
        return [f"{pad}<{node.tag}></{node.tag}>"]
    inner = [line for child in node.value for line in xml_lines(child, depth + 1)]
    return [f"{pad}<{node.tag}>", *inner, f"{pad}</{node.tag}>"]


def text_lines(node: Node, depth: int) -> list[str]:
    pad = "    " * depth
    if isinstance(node.value, str):
        return [f"{pad}{node.label}".ljust(51) + f": {node.value}"] if node.label else []
    if not node.value:
        return [f"{pad}{node.label}".ljust(51) + ": None"]
    deeper = depth + 1 if node.label else depth
    inner = [line for child in node.value for line in text_lines(child, deeper)]
    return [pad + node.label, *inner] if node.label else inner


def head_nodes(readings: list[Reading], driver: str, cuda: str, attached: int) -> list[Node]:
    return [
        Node("timestamp", "Timestamp", datetime.datetime.now().strftime("%a %b %e %H:%M:%S %Y")),
        Node("driver_version", "Driver Version", driver),
        Node("cuda_version", "CUDA Version", cuda),
        Node("attached_gpus", "Attached GPUs", str(attached)),
    ]


def xml_report(readings: list[Reading], driver: str, cuda: str, attached: int) -> str:
    # R580 names DTD version 12; 590 and newer 13
    dtd = "v12" if int(driver.split(".")[0]) < 590 else "v13"
    lines = [
        '<?xml version="1.0" ?>',
        f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_{dtd}.dtd">',
        "<nvidia_smi_log>",
    ]
    for node in head_nodes(readings, driver, cuda, attached):
        lines += xml_lines(node, 1)
    for reading in readings:
        lines.append(f'\t<gpu id="{reading.card.bus_id}">')
        for node in gpu_nodes(reading):
            lines += xml_lines(node, 2)
        lines.append("\t</gpu>")
    return "\n".join([*lines, "</nvidia_smi_log>", ""])


def text_report(readings: list[Reading], driver: str, cuda: str, attached: int) -> str:
    return text_log(head_nodes(readings, driver, cuda, attached), {r.card.bus_id: gpu_nodes(r) for r in readings})


def power_report(readings: list[Reading], driver: str, cuda: str, attached: int) -> str:
    """`nvidia-smi -q -d POWER`."""
    names = ("Duration", "Number of Samples", "Max", "Min", "Avg")
    samples = Node("power_samples", "Power Samples", [Node("", name, "Not Found") for name in names])
    sections = {}
    for reading in readings:
        first, *rest = [node for node in gpu_nodes(reading) if node.tag.endswith("power_readings")]
        sections[reading.card.bus_id] = [first, samples, *rest]
    return text_log(head_nodes(readings, driver, cuda, attached), sections)


def text_log(head: list[Node], cards: dict[str, list[Node]]) -> str:
    """The text form of -q. cards: nodes by bus id."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [line for node in head for line in text_lines(node, 0)]
    for bus_id, nodes in cards.items():
        lines.append(f"GPU {bus_id}")
        lines += [line for node in nodes for line in text_lines(node, 1)]
        lines.append("")
    return "\n".join([*lines, ""])
