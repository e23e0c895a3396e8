"""What is unpacked onto the lab host: capabilities, limits, modes, content keys."""

from __future__ import annotations

import importlib.util
import io
import resource
import tarfile
from pathlib import Path
from types import ModuleType

from lab.capabilities import NAMES, capability_names
from lab.digest import tree_key
from lab.host_files import as_tar
from lab.layout import LAB
from lab.seed import context_tar


def test_capability_numbers_are_the_kernels() -> None:
    """linux/capability.h: CAP_SYS_ADMIN is 21, CAP_SYS_RESOURCE 24, CAP_CHECKPOINT_RESTORE 40."""
    assert (NAMES.index("SYS_ADMIN"), NAMES.index("SYS_RESOURCE"), NAMES.index("CHECKPOINT_RESTORE")) == (21, 24, 40)


def test_a_capability_that_the_machine_lacks_is_not_asked_for() -> None:
    assert "SYS_RESOURCE" in capability_names("000001ffffffffff")
    without = capability_names("000001fffeffffff")
    assert "SYS_RESOURCE" not in without
    assert {"SYS_ADMIN", "NET_ADMIN", "MKNOD"} <= set(without)


def test_what_would_reach_the_outer_machine_is_never_handed_out() -> None:
    assert not {"SYS_MODULE", "SYS_BOOT"} & set(capability_names("000001ffffffffff"))


def _clamp_limits() -> ModuleType:
    path = LAB / "host_files/usr/local/lib/gpu-seats-lab/clamp_limits.py"
    spec = importlib.util.spec_from_file_location("clamp_limits", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_limits_are_lowered_to_what_can_be_had_and_never_raised() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ceiling = hard if hard != resource.RLIM_INFINITY else 2**64 - 1
    asked = [
        {"type": "RLIMIT_NOFILE", "hard": ceiling, "soft": 10},
        {"type": "RLIMIT_NOFILE", "hard": 2**64 - 1, "soft": 2**64 - 1},
        {"type": "RLIMIT_OF_THE_FUTURE", "hard": 5, "soft": 5},
    ]
    lowered = _clamp_limits().clamped(asked)
    assert lowered[0] == asked[0]
    assert (lowered[1]["hard"], lowered[1]["soft"]) == (ceiling, ceiling)
    assert lowered[2] == asked[2]


def test_the_runc_wrapper_finds_the_description_of_create_and_exec() -> None:
    find = _clamp_limits().description_file
    assert find(["--root", "/r", "create", "--bundle", "/b", "id"]) == ("/b/config.json", False)
    assert find(["exec", "--process", "/p.json", "id"]) == ("/p.json", True)
    assert find(["state", "id"]) == (None, False)


def test_host_files_keep_modes_and_belong_to_root() -> None:
    tar = as_tar(
        {"usr/bin/x": (b"#!/bin/sh\n", 0o755), "root/.ssh/authorized_keys": (b"k", 0o600)}, {"etc/l": "/dev/null"}
    )
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        members = {member.name: member for member in archive}
    assert members["usr/bin/x"].mode == 0o755
    assert (members["root/.ssh"].mode, members["root/.ssh/authorized_keys"].mode) == (0o700, 0o600)
    assert members["etc/l"].linkname == "/dev/null"
    assert {member.uid for member in members.values()} == {0}


def test_a_content_key_sees_bytes_names_and_modes_but_no_caches(tmp_path: Path) -> None:
    folder = tmp_path / "context"
    folder.mkdir()
    file = folder / "a"
    file.write_text("1")
    keys = [tree_key([folder])]
    file.chmod(0o755)
    keys.append(tree_key([folder]))
    file.write_text("2")
    keys.append(tree_key([folder]))
    file.rename(folder / "b")
    keys.append(tree_key([folder]))
    assert len(set(keys)) == 4
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/b.pyc").write_text("x")
    assert tree_key([folder]) == keys[-1]


def test_a_build_context_is_the_same_bytes_for_the_same_files(tmp_path: Path) -> None:
    """Docker's build cache would miss otherwise, and every `up` would build every image."""
    contexts = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "Dockerfile").write_text("FROM x\n")
        contexts.append(context_tar(folder))
    assert contexts[0] == contexts[1]
