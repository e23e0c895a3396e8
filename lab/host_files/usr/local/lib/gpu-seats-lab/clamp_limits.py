"""Lower the resource limits in a container's (or an exec's) OCI description to those in force here. Lab only."""

import json
import resource
import sys
from pathlib import Path


def clamped(limits):
    """The OCI `rlimits` with hard and soft no higher than this process's own hard limits."""
    result = []
    for limit in limits:
        number = getattr(resource, limit["type"], None)
        if number is not None:
            ceiling = resource.getrlimit(number)[1]
            if ceiling != resource.RLIM_INFINITY:
                limit = dict(limit, hard=min(limit["hard"], ceiling), soft=min(limit["soft"], ceiling))
        result.append(limit)
    return result


def description_file(arguments):
    """The file that runc will read, and whether the process is at its top level (exec) or under `process` (create)."""
    for option, name in (("--bundle", "config.json"), ("--process", "")):
        if option in arguments:
            value = arguments[arguments.index(option) + 1]
            return (f"{value}/{name}" if name else value), not name
    return None, False


def main():
    """Rewrite the description in place where a limit is above what can be had."""
    path, top_level = description_file(sys.argv[1:])
    if path is None:
        return
    description = json.loads(Path(path).read_text())
    process = description if top_level else description["process"]
    limits = process.get("rlimits") or []
    lowered = clamped(limits)
    if lowered != limits:
        process["rlimits"] = lowered
        Path(path).write_text(json.dumps(description))


if __name__ == "__main__":
    main()
