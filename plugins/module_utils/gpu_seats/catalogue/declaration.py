"""Findings about what the operator wrote."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "declaration.invalid": FindingKind(
        "error",
        "A declaration cannot be read as what it should be: an unknown key, a wrong type, a name that does not exist, "
        "or text that YAML reads as something else. Nothing is planned or touched while one file is faulty.",
        "Change the value at the file and line that the message names; gpu-seats lint shows every fault at once.",
    ),
    "declaration.unrenderable": FindingKind(
        "error",
        "The declaration is valid, but no Compose file can be made from it: something that the renderer needs is not "
        "declared (an image, a model, a card's UUID).",
        "Add what the message names to the stack or host file.",
    ),
}
