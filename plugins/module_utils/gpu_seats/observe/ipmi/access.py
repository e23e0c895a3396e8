"""How a BMC is asked. The password goes to ipmitool by a file or its environment, never on its command line."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...findings import Finding, finding

INTERFACES = ("auto", "open", "lanplus", "lan")
PRIVILEGES = ("callback", "user", "operator", "administrator")
PASSWORD_VARIABLES = ("IPMI_PASSWORD", "IPMITOOL_PASSWORD")
"""ipmitool -E takes either, the second first."""
_PORT = 623
_LONGEST = {"lan": 16, "lanplus": 20}
"""Bytes of a password: IPMI 1.5 and 2.0 hold no more, and ipmitool refuses more."""


@dataclass(frozen=True)
class BmcAccess:
    """One way to a BMC. interface: ``auto`` is ``lanplus`` with an address and a login, else ``open``: the BMC of the
    machine that this runs on, which needs no login.

    password, or password_file (its first line), for the network ones. privilege: what the session asks for; reading
    power needs no more than ``user``.
    """

    interface: str = "auto"
    address: str = ""
    port: int = _PORT
    username: str = ""
    password: str | None = field(default=None, repr=False)
    password_file: str = ""
    privilege: str = "user"
    cipher_suite: int | None = None

    @property
    def kind(self) -> str:
        if self.interface != "auto":
            return self.interface
        has_login = bool(self.username or self.password or self.password_file)
        return "lanplus" if self.address and has_login else "open"

    def argv(self) -> list[str]:
        """ipmitool with the options of this way. Lost packets are sent again twice: a dead BMC is known after 6 s."""
        if self.kind == "open":
            return ["ipmitool", "-I", "open"]
        argv = ["ipmitool", "-I", self.kind, "-H", self.address, "-p", str(self.port), "-N", "1", "-R", "2"]
        argv += ["-L", self.privilege.upper()]
        if self.username:
            argv += ["-U", self.username]
        if self.cipher_suite is not None and self.kind == "lanplus":
            argv += ["-C", str(self.cipher_suite)]
        return [*argv, "-f", self.password_file] if self.password_file else [*argv, "-E"]

    def environment(self) -> dict[str, str]:
        """What ipmitool needs beside its arguments: the password, where it is no file's. Empty: a login without."""
        if self.kind == "open" or self.password_file:
            return {}
        return dict.fromkeys(PASSWORD_VARIABLES, self.password or "")

    def problems(self) -> list[str]:
        """What is missing or wrong in the declaration of this way, as sentences."""
        wrong = []
        if self.interface not in INTERFACES:
            wrong.append("interface {!r} is not one of {}".format(self.interface, ", ".join(INTERFACES)))
        if self.privilege not in PRIVILEGES:
            wrong.append("privilege {!r} is not one of {}".format(self.privilege, ", ".join(PRIVILEGES)))
        if self.kind in ("lan", "lanplus"):
            if not self.address:
                wrong.append(f"interface {self.kind} needs the address of the BMC")
            if self.password is not None and self.password_file:
                wrong.append("password and password_file are both given: keep one")
            if not 0 < self.port < 65536:
                wrong.append(f"port {self.port} is not between 1 and 65535 (IPMI's own is {_PORT})")
        if self.address.startswith("-") or self.username.startswith("-"):
            wrong.append("an address or user name that starts with a dash would be taken for an option")
        return wrong

    def findings(self) -> list[Finding]:
        """What keeps this way from working, seen without asking the BMC: a password that is too long or unreadable."""
        longest = _LONGEST.get(self.kind)
        if longest is None:
            return []
        try:
            password = self._password()
        except OSError as error:
            message = f"the password file {self.password_file} can't be read: {error.strerror or error}"
            return [finding("bmc.auth_failed", "bmc:access", message, {"file": self.password_file})]
        length = len(password)
        if length <= longest:
            return []
        message = (
            f"the password has {length} bytes, IPMI by {self.kind} takes {longest}: ipmitool refuses it; set a shorter"
            " one in the BMC"
        )
        return [finding("bmc.password_too_long", "bmc:access", message, {"bytes": length, "allowed_bytes": longest})]

    def exposed(self) -> list[Finding]:
        """A password file that other users of the host can read; it is used all the same."""
        if self.kind == "open" or not self.password_file:
            return []
        try:
            status = Path(self.password_file).stat()
        except OSError:
            return []
        mode = stat.S_IMODE(status.st_mode)
        if not mode & 0o077:
            return []
        message = f"the password file {self.password_file} has mode {mode:04o}, so others than its user can read it"
        facts = {"file": self.password_file, "mode": f"{mode:04o}"}
        return [finding("bmc.password_exposed", "bmc:access", message, facts)]

    def _password(self) -> bytes:
        if self.password_file:
            first = Path(self.password_file).read_bytes().split(b"\n", 1)[0]
            return first.rstrip(b"\r")
        return (self.password or "").encode()


def bmc_access(options: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> BmcAccess:
    """The way that options describe, by the names that the module bmc_power_info has for them.

    environment: where password_env is looked up; this process's own by default. Raises ValueError with all problems.
    """
    variables = os.environ if environment is None else environment
    name = str(options.get("password_env") or "")
    wrong = []
    password = options.get("password")
    if name and name not in variables:
        wrong.append(f"password_env names {name}, which is not set here: give it in the task's environment")
    if name and (password is not None or options.get("password_file")):
        wrong.append("password_env stands beside another password option: keep one")
    cipher = options.get("cipher_suite")
    access = BmcAccess(
        interface=str(options.get("interface") or "auto"),
        address=str(options.get("address") or ""),
        port=int(options.get("port") or _PORT),
        username=str(options.get("username") or ""),
        password=variables.get(name) if name else password,
        password_file=str(options.get("password_file") or ""),
        privilege=str(options.get("privilege") or "user"),
        cipher_suite=None if cipher is None else int(cipher),
    )
    wrong += access.problems()
    if wrong:
        raise ValueError("; ".join(wrong))
    return access
