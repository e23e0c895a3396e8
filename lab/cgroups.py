"""How the outer machine's control groups are handed to a container that runs systemd or Docker."""

from __future__ import annotations

from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
# systemd 257 refuses the old hierarchy unless it is told twice
_LEGACY_BOOT = "systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
# Under cgroup v2 Docker mounts the hierarchy read-only for a container that is not privileged.
REMOUNT = "mount -o remount,rw /sys/fs/cgroup 2>/dev/null; mount -o remount,rw /sys 2>/dev/null"


def cgroup_arguments() -> list[str]:
    """Arguments of `docker run`, for cgroup v2 and for v1."""
    if (_CGROUPS / "cgroup.controllers").exists():
        return ["--cgroupns", "private"]
    legacy = ["--env", f"SYSTEMD_PROC_CMDLINE={_LEGACY_BOOT}"]
    return ["--cgroupns", "host", "--volume", f"{_CGROUPS}:{_CGROUPS}", *legacy]
