"""``python3 -m gpu_seats.host_tool``; in the archive, ``python3 gpu-seats-host.pyz``."""

from __future__ import annotations

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
