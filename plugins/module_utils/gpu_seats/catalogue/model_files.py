"""Findings about checkpoints on disk."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "model.lfs_pointer": FindingKind(
        "error",
        "A Git LFS pointer of about 134 bytes stands where a file of the checkpoint should be.",
        "Download the file itself: git lfs pull, or hf download REPO --local-dir DIR.",
    ),
    "model.error_page": FindingKind(
        "error",
        "A download saved an error page under the name of a file of the checkpoint.",
        "Log in to the hub if the model asks for it, delete the file, download it again.",
    ),
    "model.weights_damaged": FindingKind(
        "error",
        "A weights file is cut or is no safetensors file.",
        "Delete it and download it again; check the disk's free space first.",
    ),
    "model.unreadable": FindingKind(
        "error",
        "A file of the checkpoint can't be read.",
        "Check its owner and mode, and that its file system is mounted.",
    ),
    "model.shard_missing": FindingKind(
        "error",
        "The index names weights files that are not in the directory.",
        "Download the missing files.",
    ),
    "model.shards_unnamed": FindingKind(
        "warning",
        "The index names fewer weights files than their numbers promise: it may be from another revision, or cut.",
        "Compare the index with the one of the declared revision.",
    ),
    "model.index_empty": FindingKind(
        "error",
        "The weights index names no tensor.",
        "Download the index again.",
    ),
    "model.index_damaged": FindingKind(
        "error",
        "The weights index holds entries that name no file of the checkpoint.",
        "Download the index again from the declared revision.",
    ),
    "model.architecture_unknown": FindingKind(
        "warning",
        "The config names no architecture, so the engine must guess its class.",
        "Check that this is the model's own config.json.",
    ),
    "model.context_unknown": FindingKind(
        "info",
        "The config does not say the longest context.",
        "Declare max_model_len in the seat.",
    ),
    "model.ple_dtype_missing": FindingKind(
        "error",
        "vLLM picks the format of the n-gram (PLE) table from text_config.ple_embedding_dtype first. Without it a"
        " table in FP8 is taken as unquantised,"
        " and loading dies on the scale tensor that it ships.",
        'Supply it: --hf-overrides \'{"text_config":{"ple_embedding_dtype":"float8_e4m3fn"}}\', or choose a build of th'
        "e"
        " checkpoint that declares it.",
    ),
}
