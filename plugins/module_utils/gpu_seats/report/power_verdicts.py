"""What a device's verdict is called, in the text and in the picture alike."""

from __future__ import annotations

VERDICT_WORDS = {
    "ok": "within its limits",
    "over_possible": "over only at its high end",
    "over_continuous": "over its continuous limit",
    "over_absolute": "over its absolute limit",
    "unknown": "not wholly known",
}
