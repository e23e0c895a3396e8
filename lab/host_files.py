"""Files that make a plain Debian into the lab host, as one tar that `docker cp` unpacks at `/`."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

from . import declared, models
from .bmc import installation as bmc_installation
from .capabilities import offered
from .digest import files_below
from .layout import LAB, LAN_ADDRESS
from .sim import installation
from .ssh import HOST_KEY, USER_KEY

FileSet = dict[str, tuple[bytes, int]]

# laid as they are: lab/host_files/etc/... -> /etc/...
_OVERLAY = LAB / "host_files"
# laid only where the outer machine cannot hand out CAP_SYS_RESOURCE
_RUNC_WRAPPER = "usr/local/sbin/runc"
KEY_FILE = "etc/gpu-seats-lab/files-key"

# the vendor's unit lies where the vendor's package puts it, so that drop-ins below /etc count
_ENABLED = {
    "lab-address.service": "/etc/systemd/system",
    "lab-memory.service": "/etc/systemd/system",
    "gpu-sim.service": "/etc/systemd/system",
    "bmc-sim.service": "/etc/systemd/system",
    "nvidia-persistenced.service": "/usr/lib/systemd/system",
}
# consoles, devices, clocks and package lists are the outer machine's business
_MASKED = (
    *("getty.target", "console-getty.service", "systemd-udevd.service", "systemd-udev-trigger.service"),
    *("systemd-timesyncd.service", "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer"),
    *("e2scrub_all.timer", "fstrim.timer", "systemd-firstboot.service", "systemd-resolved.service", "ssh.socket"),
)


def host_files() -> FileSet:
    """Path on the host, without the leading slash -> (content, mode)."""
    files = {str(p.relative_to(_OVERLAY)): (p.read_bytes(), _mode(p)) for p in files_below(_OVERLAY)}
    if "SYS_RESOURCE" in offered():
        del files[_RUNC_WRAPPER]
    files["etc/gpu-seats-lab/lan-address"] = (f"{LAN_ADDRESS}/32\n".encode(), 0o644)
    ram_kib = declared.host_ram_kib()
    if ram_kib is not None:
        files["etc/gpu-seats-lab/ram-kib"] = (f"{ram_kib}\n".encode(), 0o644)
    files["etc/ssh/ssh_host_ed25519_key"] = (HOST_KEY.read_bytes(), 0o600)
    files["etc/ssh/ssh_host_ed25519_key.pub"] = (HOST_KEY.with_suffix(".pub").read_bytes(), 0o644)
    files["root/.ssh/authorized_keys"] = (USER_KEY.with_suffix(".pub").read_bytes(), 0o600)
    files.update({target.lstrip("/"): content for target, content in installation.files().items()})
    bmc = bmc_installation.files(declared.host_bmc())
    files.update({target.lstrip("/"): content for target, content in bmc.items()})
    files.update({target.lstrip("/"): content for target, content in models.model_files().items()})
    files[KEY_FILE] = (f"{_key(files)}\n".encode(), 0o644)
    return files


def host_links() -> dict[str, str]:
    """Symbolic links: units that start at boot, units that must not."""
    wants = "etc/systemd/system/multi-user.target.wants"
    links = {f"{wants}/{unit}": f"{folder}/{unit}" for unit, folder in _ENABLED.items()}
    links.update({f"etc/systemd/system/{unit}": "/dev/null" for unit in _MASKED})
    return links


def _mode(path: Path) -> int:
    return 0o755 if path.stat().st_mode & 0o111 else 0o644


def _key(files: FileSet) -> str:
    seen = hashlib.sha256(repr(sorted(host_links().items())).encode())
    for name, (content, mode) in sorted(files.items()):
        seen.update(f"{name} {mode:o} {hashlib.sha256(content).hexdigest()}\n".encode())
    return seen.hexdigest()[:12]


def as_tar(files: FileSet, links: dict[str, str]) -> bytes:
    """Files and links as a tar owned by root; folders on the way are the unpacker's to make."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(_folder("root/.ssh", 0o700))
        for name, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
        for name, target in sorted(links.items()):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return buffer.getvalue()


def _folder(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    return entry
