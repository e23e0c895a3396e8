"""Findings about what engines print: vLLM and llama.cpp."""

from __future__ import annotations

from .kind import FindingKind

_MEMORY = {
    "engine.kv_too_small": FindingKind(
        "error",
        "One request of the declared length does not fit into the KV cache. Newer releases count CUDA graph memory, so"
        " an image bump can bring it.",
        "Set max_model_len to what fits (evidence), or give the seat more KV cache; set restart to no while you do.",
    ),
    "engine.no_kv_memory": FindingKind(
        "error",
        "After the weights nothing is left for the KV cache, often because another process holds the card.",
        "Look who holds the card (nvidia-smi compute apps); raise the utilisation, or free the card.",
    ),
    "engine.free_memory_low": FindingKind(
        "error",
        "vLLM refuses to start when less than utilisation x total is free, even with pinned KV bytes.",
        "Lower gpu_memory_utilization of this seat, or stop the neighbour that holds the memory.",
    ),
    "engine.profiling_disturbed": FindingKind(
        "error",
        "A neighbour on the card freed memory while this engine measured.",
        "Start the seats of one card one after the other, or pin kv_cache_memory. A retry is right.",
    ),
    "engine.out_of_memory": FindingKind(
        "error",
        "A GPU ran out of memory. The GPU number is the container's own, not the host's.",
        "Lower max_num_batched_tokens, the KV cache or max_model_len; check the seat's claim against its peak.",
    ),
    "engine.near_oom": FindingKind(
        "warning",
        "The allocator ran out of memory, freed something and went on. Nothing failed "
        "visibly; a crash is one step away.",
        "Lower kv_cache_memory or max_num_batched_tokens until a long prefill logs none of these.",
    ),
    "engine.shm_too_small": FindingKind(
        "error",
        "The container's shared memory is too small; Docker gives 64 MiB unless told otherwise.",
        "Set shm_size (for example 16GiB) or ipc: host in the seat.",
    ),
    "engine.host_out_of_memory": FindingKind(
        "error",
        "The host's memory, or the container's limit, did not suffice. Pinned tables may round up to a power of two.",
        "Compare the seat's host_ram claim with MemAvailable and mem_limit.",
    ),
    "engine.worker_killed": FindingKind(
        "error",
        "A worker process was ended from outside, most often by the kernel when memory ran out.",
        "dmesg -T | grep -i 'out of memory'; raise mem_limit or free host memory.",
    ),
    "engine.process_crashed": FindingKind(
        "error",
        "A process of the engine crashed in native code; its last lines stand above in the log.",
        "Look for an Xid of the same minute (dmesg -T | grep NVRM); try the image's last good tag.",
    ),
    "engine.suggested_kv_unsafe": FindingKind(
        "info",
        "vLLM's figure to fully utilize the card comes from a shallow profile; a long request needs more.",
        "Never take it. Probe with a prefill of the longest real request and keep a margin.",
    ),
}

_GPU = {
    "engine.compat_shadows_driver": FindingKind(
        "error",
        "CUDA error 803: compatibility libraries of the image are found before the host's driver.",
        "Set LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/nvidia/lib in the seat, or use an image without them.",
    ),
    "engine.driver_too_old": FindingKind(
        "error",
        "The host's driver is older than what the image's CUDA needs.",
        "Choose an image for the host's driver, or plan a driver upgrade. Do not retry.",
    ),
    "engine.no_kernel_image": FindingKind(
        "error",
        "The image was not built for this card's architecture.",
        "Choose an image that was (Blackwell workstation cards are sm_120).",
    ),
    "engine.no_gpu_visible": FindingKind(
        "error",
        "The engine sees no GPU inside its container.",
        "Look at the container's device request and run nvidia-smi -L inside; recreate it "
        "when it was made without one.",
    ),
    "engine.too_few_gpus": FindingKind(
        "error",
        "The engine is to use more GPUs than its container has.",
        "Let tensor_parallel_size times pipeline_parallel_size equal the number of gpus of the seat.",
    ),
    "engine.gpu_failed": FindingKind(
        "error",
        "A kernel or a card failed while the engine used it.",
        "Read the kernel log for Xid lines: with some it is the card, without it is the engine build.",
    ),
    "engine.nccl_failed": FindingKind(
        "error",
        "The GPUs of one seat could not talk to each other.",
        "Read NCCL's last error line; shm_size, IOMMU and peer access are the usual causes.",
    ),
    "engine.device_order": FindingKind(
        "info",
        "CUDA numbers unlike cards fastest first, not in the order of nvidia-smi.",
        "Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or compare by UUID only.",
    ),
    "engine.partly_on_cpu": FindingKind(
        "warning",
        "Part of the model runs on the CPU.",
        "Raise n_gpu_layers, or choose a smaller quantisation, when the card has room.",
    ),
}

_MODEL = {
    "engine.gated_repo": FindingKind(
        "error",
        "The model's repository asks for an accepted licence and a token.",
        "Accept it on the hub with the account of the token, and give HF_TOKEN in the seat's env file.",
    ),
    "engine.repo_not_found": FindingKind(
        "error",
        "The model is neither a directory in the container nor a repository on the hub.",
        "Check model.path and that the directory is mounted into the container.",
    ),
    "engine.hub_unreachable": FindingKind(
        "error",
        "The engine wanted something from the hub and could not reach it.",
        "Download the model to the host and serve it by path, or let the container reach the hub.",
    ),
    "engine.cache_not_writable": FindingKind(
        "error",
        "The engine may not write its cache; with a user that has no home it tries /.cache.",
        "Mount a cache directory that the container's user owns and set HF_HOME, VLLM_CACHE_ROOT and HOME to it.",
    ),
    "engine.permission_denied": FindingKind(
        "error",
        "The engine may not use a path.",
        "Give the container's user the right to it, or mount it elsewhere.",
    ),
    "engine.weights_damaged": FindingKind(
        "error",
        "A weights file is damaged, cut, or only a pointer.",
        "gpu-seats parse model-config FILE tells pointers; download the file again.",
    ),
    "engine.model_files_missing": FindingKind(
        "error",
        "A file that the model needs is not there.",
        "Check that the model's directory is mounted and complete.",
    ),
    "engine.ple_format_undeclared": FindingKind(
        "error",
        "The checkpoint's n-gram (PLE) table is quantised and its config does not declare the "
        "format, so vLLM takes it as"
        " unquantised and fails at the scale tensor.",
        'Add --hf-overrides \'{"text_config":{"ple_embedding_dtype":"float8_e4m3fn"}}\'.',
    ),
    "engine.weights_unexpected": FindingKind(
        "error",
        "The checkpoint holds tensors that this build's model class does not have.",
        "Use the vLLM build that the checkpoint was made for.",
    ),
    "engine.engram_unsupported": FindingKind(
        "error",
        "--engram-config is set and the model has no Engram layers.",
        "Remove engram from the seat, or correct model.path.",
    ),
    "engine.architecture_unsupported": FindingKind(
        "error",
        "This build does not know the model's architecture.",
        "Choose a newer image, or one that has the feature.",
    ),
    "engine.quantization_unsupported": FindingKind(
        "error",
        "This build or this card does not do the checkpoint's quantisation.",
        "Choose another build of the checkpoint, or a newer image.",
    ),
    "engine.max_len_over_model": FindingKind(
        "error",
        "max_model_len is more than the model was made for.",
        "Lower it to the model's own length; longer needs a rope scaling that the model declares.",
    ),
    "engine.needs_remote_code": FindingKind(
        "error",
        "The model brings its own code, which runs only when it is trusted.",
        "Read that code first; then set trust_remote_code, or choose a build that needs none.",
    ),
    "engine.parallel_size_unfit": FindingKind(
        "error",
        "The model's heads or layers can't be split over this number of GPUs.",
        "Choose a tensor_parallel_size that divides them.",
    ),
    "engine.speculation_refused": FindingKind(
        "error",
        "The speculation does not fit the model: above the number of its draft layers it must be a multiple of it.",
        "Correct num_speculative_tokens, or leave speculation off.",
    ),
    "engine.context_shorter": FindingKind(
        "info",
        "The context is set shorter than the model's own.",
        "Nothing, when that is what the seat declares.",
    ),
    "engine.context_longer": FindingKind(
        "warning",
        "The context is set longer than the model was trained for.",
        "Lower it, or set the rope scaling that the model's card gives.",
    ),
}

_START = {
    "engine.port_in_use": FindingKind(
        "error",
        "The engine's own port is taken inside its network; with host networking that is the host's port.",
        "Choose another port, or stop its holder.",
    ),
    "engine.flag_unknown": FindingKind(
        "error",
        "The engine build does not know a flag.",
        "Check the flag against the version's own table: gpu-seats lint. Do not retry.",
    ),
    "engine.flag_invalid": FindingKind(
        "error",
        "A flag has a value that the engine build does not take.",
        "Correct the value that the message names. Do not retry.",
    ),
    "engine.argument_refused": FindingKind(
        "error",
        "The engine refused its arguments together.",
        "Correct what the message names. Do not retry.",
    ),
    "engine.ready_timeout": FindingKind(
        "error",
        "The engine was not ready within its own limit (600 s).",
        "Raise VLLM_ENGINE_READY_TIMEOUT_S when loading really takes so long; else look for what it waits for.",
    ),
    "engine.compiler_missing": FindingKind(
        "error",
        "A kernel had to be compiled and that failed.",
        "Use the official image, which has a compiler; mount the compile cache.",
    ),
    "engine.init_failed": FindingKind(
        "error",
        "The engine core did not start and no known cause stands in the log.",
        "Read the first traceback, not the last; give more of the log.",
    ),
    "engine.failed": FindingKind(
        "error",
        "The engine ended with an error that is not known here.",
        "Read the exception and the lines above it.",
    ),
    "engine.died": FindingKind(
        "critical",
        "The engine died while it served; its container ends within about a second.",
        "Read the cause above it. A restart is right unless it repeats.",
    ),
    "engine.workers_stuck": FindingKind(
        "warning",
        "The workers gave no sign for a while.",
        "During a first compile this is normal; else look for a hanging kernel (py-spy, nvidia-smi).",
    ),
    "engine.open_files_low": FindingKind(
        "info",
        "The limit of open files is low for many connections.",
        "Raise ulimits.nofile of the seat.",
    ),
}

KINDS: dict[str, FindingKind] = {**_MEMORY, **_GPU, **_MODEL, **_START}
