"""SIMULATOR: puts a /proc/meminfo in place that shows the declared host's memory instead of this machine's.

Planning counts host RAM (a lookup table of 48 GiB pinned there), so a lab host has to show as much as the real one.
What is used stays what is really used when this runs; containers see the real memory.
"""

import re
import subprocess
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
SHOWN = Path("/run/gpu-seats-lab/meminfo")
TOTAL_KIB = int(Path("/etc/gpu-seats-lab/ram-kib").read_text())


def shown_meminfo(text: str, total_kib: int) -> str:
    """`text` with its total replaced, and free and available memory raised by the difference."""
    real_kib = int(re.search(r"^MemTotal:\s+(\d+) kB", text, re.MULTILINE).group(1))
    more_kib = total_kib - real_kib

    def raised(match: "re.Match[str]") -> str:
        return f"{match[1]}{int(match[2]) + more_kib:>{len(match[2])}} kB"

    return re.sub(r"^((?:MemTotal|MemFree|MemAvailable):\s+)(\d+) kB", raised, text, flags=re.MULTILINE)


if __name__ == "__main__":
    SHOWN.parent.mkdir(parents=True, exist_ok=True)
    SHOWN.write_text(shown_meminfo(MEMINFO.read_text(), TOTAL_KIB))
    subprocess.run(["mount", "--bind", str(SHOWN), str(MEMINFO)], check=True, timeout=10)
