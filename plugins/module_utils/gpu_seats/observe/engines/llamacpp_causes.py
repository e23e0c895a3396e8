"""Texts by which llama.cpp says what is wrong; most specific first."""

from __future__ import annotations

from .cause import cause

FAILURES = (
    cause(
        "engine.permission_denied",
        r"failed to open GGUF file '?(?P<path>[^'\n]*?)'? \(Permission denied\)",
        "the engine may not use {path}",
    ),
    cause(
        "engine.no_gpu_visible",
        r"error while loading shared libraries: libcuda\.so",
        "the build needs a GPU and its container has none: there is no libcuda",
    ),
    cause(
        "engine.driver_too_old",
        r"CUDA driver version is insufficient|provided PTX was compiled with an unsupported toolchain",
        "the host's driver is too old for the image",
    ),
    cause(
        "engine.no_kernel_image",
        r"no kernel image is available",
        "the image has no kernels for this card's architecture",
    ),
    cause(
        "engine.process_crashed",
        r"^(?P<problem>Illegal instruction|Segmentation fault|Aborted)\b",
        "the server crashed: {problem}",
    ),
    cause("host.disk_full", r"No space left on device", "the disk is full"),
    cause(
        "engine.gated_repo",
        r"failed to get manifest: 40[13]|GET failed \((?:401|403)\)|HTTP error 40[13]|status code:? 40[13]",
        "the model's repository asks for an accepted licence and a token",
    ),
    cause(
        "engine.hub_unreachable",
        r"failed to download model|failed to get manifest|GET failed|curl_perform_with_retry: .*failed"
        r"|Could not (?:establish connection|resolve host)",
        "the model could not be downloaded",
    ),
    cause(
        "engine.model_files_missing",
        r"failed to open GGUF file '?(?P<file>[^'\n]*?)'?(?: \(.*)?$|llama_model_load\w*: .*No such file or directory",
        "the model file {file} can't be opened",
    ),
    cause(
        "engine.out_of_memory",
        r"allocating (?P<wanted_mib>[\d.]+) MiB on device (?P<container_gpu>\d+): cudaMalloc failed: out of memory",
        "out of memory on the container's GPU {container_gpu}: {wanted_mib} MiB wanted",
        ("wanted_mib", "container_gpu"),
    ),
    cause(
        "engine.out_of_memory",
        r"unable to allocate (?P<device>CUDA\d*) buffer"
        r"|failed to allocate (?P<device2>CUDA\d*) buffer(?: of size (?P<wanted_bytes>\d+))?"
        r"|CUDA error: out of memory|failed to allocate (?:compute (?:pp )?buffers|buffer for kv cache)"
        r"|cudaMalloc failed",
        "out of memory on a GPU",
        ("wanted_bytes",),
    ),
    cause(
        "engine.host_out_of_memory",
        r"unable to allocate (?:CPU|\w*_Host|backend) buffer|failed to allocate (?:CPU\w*|\w*_Host) buffer"
        r"|std::bad_alloc|mmap failed|failed to mlock",
        "the host's memory did not suffice",
    ),
    cause(
        "engine.weights_damaged",
        r"invalid magic characters|invalid magic|bad magic"
        r"|tensor '?(?P<tensor>[\w.]+)'? data is not within the file bounds|model is corrupted"
        r"|failed to read (?:tensor|magic|header)|unexpectedly reached end of file"
        r"|wrong number of tensors|corrupted or incomplete",
        "the model file is damaged, cut or no GGUF",
    ),
    cause(
        "engine.architecture_unsupported",
        r"unknown model architecture: '?(?P<architecture>[\w.-]+)|unsupported model architecture"
        r"|unknown pre-tokenizer type: '?(?P<tokenizer>[\w.-]+)"
        r"|(?:gguf|GGUF) version (?P<version>\d+).*(?:supported|unsupported)",
        "this build does not know the model's architecture {architecture}",
    ),
    cause(
        "engine.port_in_use",
        r"couldn'?t bind (?:HTTP )?(?:server )?socket|(?:bind|listen)\w*.*[Aa]ddress already in use"
        r"|couldn't bind to server socket: hostname=(?P<address>\S+) port=(?P<port>\d+)",
        "the engine's own port is taken inside its network",
        ("port",),
    ),
    cause(
        "engine.flag_unknown",
        r"error: (?:invalid|unknown) argument: (?P<arguments>\S+)",
        "this build does not know the flag {arguments}",
    ),
    cause(
        "engine.flag_invalid",
        r"error while handling argument \"(?P<flag>[^\"]*)\": (?P<problem>.*)$"
        r"|error: (?P<problem2>invalid parameter for argument: .*)$",
        "a flag has a value that this build does not take: {flag} {problem}",
    ),
    cause(
        "engine.gpu_failed",
        r"CUDA error: (?!out of memory)(?P<kind>.+)$"
        r"|ggml_cuda_init: failed to initialize CUDA: (?!no CUDA)(?P<kind2>.+)$",
        "a GPU or a kernel on it failed: {kind}",
    ),
    cause(
        "engine.failed",
        r"error loading model: (?P<problem>.+)$|exiting due to model loading error"
        r"|(?P<problem2>failed to load (?:multimodal |draft )?model(?:,? '?[^'\n]+'?)?)|terminate called after"
        r"|(?P<problem3>GGML_ASSERT\(.*failed)|error: (?P<problem4>failed to .+)$",
        "the server failed: {problem}",
    ),
)
"""Each line is counted for the first that fits; the first in the log is the root cause."""

SIGNS = (
    cause(
        "engine.no_gpu_visible",
        r"no usable GPU found|ggml_cuda_init: failed to initialize CUDA: no CUDA"
        r"|no CUDA-capable device is detected|found 0 CUDA devices",
        "the server sees no GPU and runs on the CPU",
        fails=False,
    ),
    cause(
        "engine.context_shorter",
        r"n_ctx(?:_per_seq|_seq)? \((?P<context>\d+)\) < n_ctx_train \((?P<trained>\d+)\)",
        "the context of {context} tokens is less than the model's {trained}",
        ("context", "trained"),
        False,
    ),
    cause(
        "engine.context_longer",
        r"n_ctx(?:_per_seq|_seq)? \((?P<context>\d+)\) > n_ctx_train \((?P<trained>\d+)\)",
        "the context of {context} tokens is more than the model's {trained}",
        ("context", "trained"),
        False,
    ),
)
