"""Write the compact flag table of one vLLM release from a dump of its argument parser.

Usage: compact_flags.py DUMP.json... (each dump names its own version). The dump holds one object per argparse action of
``vllm serve``, with the keys ``accepted``, ``dest``, ``action``, ``type``, ``nargs``, ``choices`` (help texts and
defaults are dropped here). The tables' shape is described in data/vllm/README.md of the gpu_seats package.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLES = Path(__file__).resolve().parents[3] / "plugins/module_utils/gpu_seats/data/vllm"

ACTIONS = {
    "_StoreAction": "store",
    "_StoreTrueAction": "store_true",
    "_AppendAction": "append",
    "_HelpAction": "help",
    "BooleanOptionalAction": "boolean",
    "EnableDisableAction": "boolean",
    "LoRAParserAction": "store",
    "DeprecatedLogConfigFileAction": "store",
}


def compact_flag(flag: dict[str, Any]) -> dict[str, Any]:
    """One table row: only the keys that a parser needs, without those that have no value."""
    row = {
        "accepted": sorted(flag["accepted"]),
        "dest": flag["dest"],
        "action": ACTIONS[flag["action"]],
        "type": flag["type"],
        "nargs": flag["nargs"] if flag["nargs"] != 0 else None,
        "choices": flag["choices"],
    }
    return {key: value for key, value in row.items() if value is not None}


def compact_table(dump: dict[str, Any]) -> str:
    """The table as JSON text with one flag a line, so that releases diff well."""
    rows = sorted((compact_flag(f) for f in dump["flags"]), key=lambda row: str(row["dest"]))
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    version = dump["version"]
    return (
        f'{{\n "version": "{version}",\n "source": "argument parser of the PyPI sdist vllm-{version}",\n'
        f' "flags": [\n{lines}\n ]\n}}\n'
    )


def main(paths: list[str]) -> int:
    for path in paths:
        dump = json.loads(Path(path).read_text(encoding="utf-8"))
        target = TABLES / f"serve-flags-{dump['version']}.json"
        target.write_text(compact_table(dump), encoding="utf-8")
        print(f"{target}: {len(dump['flags'])} flags")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
