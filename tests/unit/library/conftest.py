"""The simulated cards of the tests of apply/ are these tests' too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apply"))
