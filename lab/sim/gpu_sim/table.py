"""The table that `nvidia-smi` prints without arguments, with the column widths of the R550+ drivers."""

from __future__ import annotations

import datetime

from .reading import NA, Reading

RULE = "+-----------------------------------------+------------------------+----------------------+"
WIDE = "+-----------------------------------------------------------------------------------------+"
HEAD = [
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
    "|                                         |                        |               MIG M. |",
    "|=========================================+========================+======================|",
]
PROCESSES = [
    WIDE,
    "| Processes:                                                                              |",
    "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |",
    "|        ID   ID                                                               Usage      |",
    "|=========================================================================================|",
]


def short(value: float | int | str, unit: str) -> str:
    """A table cell: whole number with its unit, ERR! where reading fails."""
    if value == NA:
        return NA
    return "ERR!" if isinstance(value, str) else f"{value:.0f}{unit}"


def short_name(name: str) -> str:
    return name if len(name) <= 27 else name[:24] + "..."


FAILED = "|ERR!  ERR! ERR!           N/A / ERR!     |   Unknown Error        |    ERR!      Default |"
"""What a card shows whose readings fail."""


def usage_line(r: Reading) -> str:
    if isinstance(r.used_mib, str):
        return FAILED
    fan, temperature = short(r.fan_percent, "%"), short(r.temperature_c, "C")
    power = f"{short(r.draw_w, 'W')} / {short(r.enforced_w, 'W'):>5}"
    memory = f"{r.used_mib}MiB / {r.card.memory_total_mib:>6}MiB"
    util = short(r.util_percent, "%")
    return f"|{fan:>4}  {temperature:>4}  {r.pstate:>4}      {power:>18} | {memory:>22} | {util:>7}      Default |"


def card_lines(r: Reading) -> list[str]:
    card = r.card
    name = f"{short_name(card.name):<27}" + ("    On " if r.persistent else "    Off")
    mig = r.mig_mode if r.mig_mode == "Enabled" else NA
    return [
        f"| {card.index:>3}  {name} |   {card.bus_id} Off | {'Off':>20} |",
        usage_line(r),
        f"| {'':<39} | {'':<22} | {mig:>20} |",
        RULE,
    ]


def process_lines(readings: list[Reading]) -> list[str]:
    rows = [
        f"|  {r.card.index:>3}   N/A  N/A {c.pid:>15}      C   {c.process[:36]:<36} {c.mib:>6}MiB |"
        for r in readings
        for c in r.claims
        if c.pid is not None
    ]
    none = "|  No running processes found                                                             |"
    return [*PROCESSES, *(rows or [none]), WIDE]


def version_line(driver: str, cuda: str) -> str:
    if int(driver.split(".")[0]) >= 610:
        return f"| NVIDIA-SMI {driver}              KMD Version: {driver}     CUDA UMD Version: {cuda:<9}|"
    return f"| NVIDIA-SMI {driver:<22} Driver Version: {driver:<14} CUDA Version: {cuda:<9}|"


def table(readings: list[Reading], driver: str, cuda: str) -> str:
    lines = [datetime.datetime.now().strftime("%a %b %e %H:%M:%S %Y").ljust(31)]
    lines += [WIDE, version_line(driver, cuda), RULE, *HEAD]
    for reading in readings:
        lines += card_lines(reading)
    lines += ["", *process_lines(readings), ""]
    return "\n".join(lines)
