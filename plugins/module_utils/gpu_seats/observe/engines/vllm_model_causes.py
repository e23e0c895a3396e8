"""Texts of vLLM, transformers and the hub about the model; most specific first."""

from __future__ import annotations

from .cause import cause

MODEL_CAUSES = (
    cause(
        "engine.gated_repo",
        r"Cannot access gated repo(?: for url (?P<url>\S+?))?\.?(?:\s|$)|GatedRepoError"
        r"|You are trying to access a gated repo|Invalid credentials in Authorization header"
        r"|HTTPError: (?:401|403) Client Error",
        "the model's repository asks for an accepted licence and a token",
    ),
    cause(
        "engine.repo_not_found",
        r"RepositoryNotFoundError|is not a local folder and is not a valid model identifier|Repository Not Found"
        r"|Invalid repository ID or local directory specified: '?(?P<model>[^'\s]+)|EntryNotFoundError"
        r"|RevisionNotFoundError",
        "the model was not found, neither as a directory nor on the hub",
    ),
    cause(
        "engine.hub_unreachable",
        r"couldn't connect to 'https://huggingface\.co'|LocalEntryNotFoundError|OfflineModeIsEnabled"
        r"|Max retries exceeded with url|HTTPError: (?:429|5\d\d) (?:Client|Server) Error"
        r"|outgoing traffic has been disabled|Failed to resolve 'huggingface\.co'"
        r"|huggingface\.co.*(?:timed out|Connection refused)",
        "the hub can't be reached and the model is not in the cache",
    ),
    cause(
        "engine.cache_not_writable",
        r"Permission denied: '(?P<path>/\.cache[^']*|[^']*cache[^']*)'",
        "the engine may not write its cache {path}",
    ),
    cause(
        "engine.permission_denied",
        r"PermissionError: \[Errno 13\][^']*'(?P<path>[^']*)'|Permission denied: '(?P<path2>[^']*)'",
        "the engine may not use {path}",
    ),
    cause(
        "engine.weights_damaged",
        r"SafetensorError: (?P<kind>[^\n]*)|Error while deserializing header: (?P<kind2>\w+)"
        r"|HeaderTooLarge|MetadataIncompleteBuffer"
        r"|PytorchStreamReader failed|invalid load key",
        "a weights file is damaged, cut or a Git LFS pointer: {kind}",
    ),
    cause(
        "engine.model_files_missing",
        r"does not appear to have a file named (?P<file>\S+?)\.? |Cannot find any model weights"
        r"|No such file or directory: '(?P<file2>[^']*)'"
        r"|Error no file named|Can't load (?:the configuration|tokenizer)|couldn't find them in the cached files",
        "a file of the model is missing: {file}",
    ),
    cause(
        "engine.ple_format_undeclared",
        r"(?:KeyError: |no module or parameter named |unexpected (?:key|weight)\D*"
        r"|Following weights were not initialized\D*)"
        r"['\"{]*(?P<tensor>[\w.]*(?:\bple\b|\.ple\.|ple_|engram|ngram|embed_tokens_per_layer"
        r"|per_layer_emb)[\w.]*scale[\w.]*)",
        "the n-gram (PLE) table ships the scale {tensor} and its format is not declared",
    ),
    cause(
        "engine.weights_unexpected",
        r"There is no module or parameter named '?(?P<tensor>[\w.]+)|KeyError: '(?P<tensor2>(?:model"
        r"|layers|lm_head|language_model|visual)\.[\w.]+)'"
        r"|Following weights were not initialized from checkpoint|size mismatch for (?P<tensor3>[\w.]+)",
        "the checkpoint does not fit the engine's model class: {tensor}",
    ),
    cause(
        "engine.engram_unsupported",
        r"EngramConfig requires a model with supported Engram embeddings",
        "--engram-config is set and the model has no Engram (n-gram) layers",
    ),
    cause(
        "engine.architecture_unsupported",
        r"Model architectures? \[?'?(?P<architecture>\w+)'?\]? (?:are|is) not supported"
        r"|has no vLLM implementation|failed to be inspected"
        r"|does not recognize this architecture"
        r"|model type `(?P<architecture2>[\w-]+)` but Transformers does not recognize",
        "this build does not know the model's architecture {architecture}",
    ),
    cause(
        "engine.quantization_unsupported",
        r"(?:Unknown quantization method|Quantization method specified[^\n]*does not match"
        r"|quantization (?:method|scheme)[^\n]*"
        r"(?:is|are) not supported"
        r"|not supported for the current GPU\. Minimum capability: (?P<needs>\d+)\. Current capability: "
        r"(?P<has>\d+))",
        "this build or card does not do the checkpoint's quantisation",
        ("needs", "has"),
    ),
    cause(
        "engine.max_len_over_model",
        r"max_model_len \((?P<max_model_len>[\d,]+)\) is greater than the derived "
        r"max_model_len \(\w+=(?P<model_len>[\d,.]+)",
        "max_model_len {max_model_len} is more than the model's {model_len}",
        ("max_model_len", "model_len"),
    ),
    cause(
        "engine.needs_remote_code",
        r"requires you to execute (?:the )?(?:configuration|modeling|custom) (?:file|code)"
        r"|contains custom code which must"
        r"|trust_remote_code=True",
        "the model brings its own code and trust_remote_code is not set",
    ),
    cause(
        "engine.parallel_size_unfit",
        r"(?:Total number of attention heads|num(?:ber of)? (?:attention|kv|key/value) heads"
        r"|intermediate size)[^\n]*divisible"
        r"|is not divisible by (?:tensor|weight quantization|min_thread)",
        "the model can't be split over this number of GPUs",
    ),
    cause(
        "engine.speculation_refused",
        r"num_speculative_tokens[:\s=]*(?P<wanted>\d+)[^\n]*must be divisible by n_predict=(?P<layers>\d+)"
        r"|speculative[^\n]*"
        r"(?:not supported|unsupported|must be)",
        "this speculation is not possible with the model's draft layers",
        ("wanted", "layers"),
    ),
)
