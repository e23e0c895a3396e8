"""systemd as `systemctl` shows it, over unit files in a directory; counts every reload, also the implicit ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpu_seats.observe.command import CommandResult


@dataclass
class FakeSystemd:
    """loaded: text of each unit as systemd last read it. refuses: verb and unit -> what systemctl says.

    boot_words: what ``is-enabled`` says until the unit is enabled.
    """

    directory: Path
    loaded: dict[str, str] = field(default_factory=dict)
    enabled: set[str] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    masked: set[str] = field(default_factory=set)
    refuses: dict[str, str] = field(default_factory=dict)
    boot_words: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    reloads: int = 0
    down: bool = False

    def run(self, argv: Sequence[str], limit_s: float) -> CommandResult:
        words = [word for word in argv[1:] if word != "--"]
        self.asked.append(" ".join(words))
        if argv[0] == "journalctl":
            return self._said(argv, 0, "the unit's own words\n")
        if self.down:
            return self._said(argv, 1, "", "System has not been booted with systemd as init system (PID 1).\n")
        verb, names = words[0], [word for word in words[1:] if not word.startswith("--")]
        if verb == "show":
            return self._said(argv, 0, "\n\n".join(self._shown(name) for name in names) + "\n")
        if verb == "is-enabled":
            return self._said(argv, 1, "".join(f"{self._boot_word(name)}\n" for name in names))
        if verb == "daemon-reload":
            return self._reloaded(argv)
        (name,) = names
        if f"{verb} {name}" in self.refuses:
            return self._said(argv, 1, "", self.refuses[f"{verb} {name}"])
        if verb in ("enable", "disable") and "--no-reload" not in words:
            self._reloaded(argv)
        if verb == "start":
            self.loaded.setdefault(name, self._on_disk(name))
        if verb == "enable":
            self.boot_words.pop(name, None)
        change = {"enable": self.enabled.add, "disable": self.enabled.discard, "start": self.active.add}
        change.get(verb, self.active.discard)(name)
        return self._said(argv, 0, "")

    def _reloaded(self, argv: Sequence[str]) -> CommandResult:
        if "daemon-reload" in self.refuses:
            return self._said(argv, 1, "", self.refuses["daemon-reload"])
        self.reloads += 1
        self.loaded = {name: self._on_disk(name) for name in self.loaded if (self.directory / name).is_file()}
        return self._said(argv, 0, "")

    def _on_disk(self, name: str) -> str:
        return (self.directory / name).read_text()

    def _exists(self, name: str) -> bool:
        return (self.directory / name).is_file() or name in self.loaded

    def _boot_word(self, name: str) -> str:
        if name in self.boot_words:
            return self.boot_words[name]
        return "masked" if name in self.masked else "enabled" if name in self.enabled else "disabled"

    def _shown(self, name: str) -> str:
        stale = name in self.loaded and self._exists(name) and self.loaded[name] != self._on_disk(name)
        load = "masked" if name in self.masked else "loaded" if self._exists(name) else "not-found"
        active = "active" if name in self.active else "inactive"
        return (
            f"Id={name}\nLoadState={load}\nActiveState={active}\nSubState=x\n"
            f"NeedDaemonReload={'yes' if stale else 'no'}\nResult=success"
        )

    @staticmethod
    def _said(argv: Sequence[str], rc: int, out: str, err: str = "") -> CommandResult:
        return CommandResult(tuple(argv), rc, out, err)
