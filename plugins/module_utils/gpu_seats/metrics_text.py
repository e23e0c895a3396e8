"""The Prometheus text format 0.0.4, for the textfile collector of node_exporter.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Mapping

FINDING_HELP = "One thing that is not as declared; 1 while it is so."
"""The same text in every file that holds the family ``gpu_seats_finding``: node_exporter refuses two help texts."""


def family(name: str, help_text: str, samples: Mapping[str, float]) -> str:
    """A family of gauges. samples: series (see `series`) -> value."""
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
    lines += [f"{one} {value!r}" for one, value in samples.items()]
    return "\n".join(lines) + "\n"


def series(name: str, labels: Mapping[str, str]) -> str:
    return name + "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


__all__ = ["FINDING_HELP", "family", "series"]
