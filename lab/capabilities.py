"""Which Linux capabilities the lab host gets: all that the outer Docker can hand out."""

from __future__ import annotations

from pathlib import Path

# bit numbers of linux/capability.h
NAMES = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID"),
    *("SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW"),
    *("IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT"),
    *("SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD"),
    *("LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG"),
    *("WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE"),
)
# Engine 20.10 knows none of the last three by name, and the lab host can do without them; a module or a reboot of the
# outer machine is nothing that a lab host should be able to ask for.
_WITHHELD = {"PERFMON", "BPF", "CHECKPOINT_RESTORE", "SYS_MODULE", "SYS_BOOT"}


def capability_names(bounding_hex: str) -> list[str]:
    """Names in a `CapBnd` value of /proc/PID/status, without those that the lab host never gets."""
    bits = int(bounding_hex, 16)
    return [name for bit, name in enumerate(NAMES) if bits >> bit & 1 and name not in _WITHHELD]


def offered() -> list[str]:
    """What the outer Docker's daemon (or else this process) can hand out.

    `--privileged` asks for every capability and fails where the outer machine lacks one, hence by name.
    """
    for status in (_daemon_status(), Path("/proc/self/status")):
        if status and status.exists():
            for line in status.read_text().splitlines():
                if line.startswith("CapBnd:"):
                    return capability_names(line.split()[1])
    return capability_names("1ffffffffff")


def _daemon_status() -> Path | None:
    pid_file = Path("/var/run/docker.pid")
    try:
        return Path(f"/proc/{pid_file.read_text().strip()}/status")
    except OSError:
        return None
