"""Texts of vLLM, PyTorch and NCCL about memory and GPUs; most specific first."""

from __future__ import annotations

from .cause import cause

_GIB = r"[\d.]+"

MEMORY_CAUSES = (
    cause(
        "engine.kv_too_small",
        r"To serve at least one request with the models?'?s? max(?:imum)? seq(?:uence)? "
        r"len(?:gth)? \((?P<max_model_len>[\d,]+)\), "
        rf"\(?(?P<needs_gib>{_GIB}) GiB KV cache is needed, which is larger than the available KV cache memory "
        rf"\((?P<has_gib>{_GIB}) GiB\)(?:.*?estimated maximum model length is (?P<fits_len>[\d,]+))?",
        "the KV cache for max_model_len {max_model_len} needs {needs_gib} GiB, there are "
        "{has_gib} GiB: {fits_len} tokens fit",
        ("max_model_len", "needs_gib", "has_gib", "fits_len"),
    ),
    cause(
        "engine.kv_too_small",
        r"max seq len \((?P<max_model_len>[\d,]+)\) is larger than the maximum number of "
        r"tokens that can be stored in KV "
        r"cache \((?P<fits_len>[\d,]+)\)",
        "max_model_len {max_model_len} is more than the KV cache holds: {fits_len} tokens fit",
        ("max_model_len", "fits_len"),
    ),
    cause(
        "engine.no_kv_memory",
        r"No available memory for the cache blocks",
        "no memory is left for the KV cache after the weights: another process may hold the card",
    ),
    cause(
        "engine.free_memory_low",
        rf"Free memory on device(?: (?P<device>\S+))? "
        rf"\((?P<free_gib>{_GIB})/(?P<total_gib>{_GIB}) GiB\) on startup is less "
        rf"than desired GPU memory utilization \((?P<utilisation>[\d.]+), (?P<wanted_gib>{_GIB}) GiB\)",
        "{free_gib} of {total_gib} GiB are free, the utilisation of {utilisation} asks for {wanted_gib} GiB",
        ("free_gib", "total_gib", "utilisation", "wanted_gib"),
    ),
    cause(
        "engine.profiling_disturbed",
        rf"Error in memory profiling\. Initial free memory (?P<initial_gib>{_GIB})(?: GiB)?, current free memory "
        rf"(?P<current_gib>{_GIB})",
        "a neighbour freed memory while this engine measured: {initial_gib} GiB free before, {current_gib} GiB after",
        ("initial_gib", "current_gib"),
    ),
    cause(
        "engine.out_of_memory",
        rf"CUDA out of memory\. Tried to allocate (?P<wanted>{_GIB} [KMG]iB)\.?.*?GPU "
        rf"(?P<container_gpu>\d+) has a total "
        rf"capaci?ty of (?P<total_gib>{_GIB}) GiB of which "
        rf"(?P<free>{_GIB} (?:[KMG]iB|bytes)) is free(?:.*?this process has "
        rf"(?P<used_gib>{_GIB}) GiB memory in use)?",
        "out of memory on the container's GPU {container_gpu}: {wanted} wanted, {free} of {total_gib} GiB free",
        ("container_gpu", "total_gib", "used_gib"),
    ),
    cause(
        "engine.out_of_memory",
        rf"CUDA out of memory\. Tried to allocate (?P<wanted>{_GIB} [KMG]iB)(?: \(GPU (?P<container_gpu>\d+); "
        rf"(?P<total_gib>{_GIB}) GiB total capacity)?",
        "out of memory on the container's GPU {container_gpu}: {wanted} wanted",
        ("container_gpu", "total_gib"),
    ),
    cause(
        "engine.out_of_memory",
        r"CUDA out of memory|CUDA error: out of memory|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED"
        r"|torch\.(?:cuda\.)?OutOfMemoryError",
        "out of memory on a GPU",
    ),
    cause(
        "engine.near_oom",
        r"OOM on device (?P<container_gpu>\d+) while trying to allocate (?P<wanted_bytes>\d+) bytes"
        r"(?: \(free: (?P<free_bytes>\d+)\))?",
        "the allocator ran out on the container's GPU {container_gpu} ({wanted_bytes} bytes "
        "wanted, {free_bytes} free) and went on",
        ("container_gpu", "wanted_bytes", "free_bytes"),
        False,
    ),
    cause(
        "engine.shm_too_small",
        r"Error while creating shared memory segment (?P<path>\S+) \(size (?P<wanted_bytes>\d+)\)",
        "shared memory is too small: {wanted_bytes} bytes did not fit into {path}",
        ("wanted_bytes",),
    ),
    cause(
        "engine.shm_too_small",
        r"unable to write to file </?torch_[^>]*>: No space left on device|Fatal Python error: Bus error"
        r"|Failed core proc\(s\): \{[^}]*: -7\b|insufficient shared memory|/dev/shm\S*.*No space left on device"
        r"|No space left on device.*/dev/shm|Bus error \(core dumped\)"
        r"|unable to (?:open|mmap) shared memory",
        "shared memory is too small",
    ),
    cause(
        "host.disk_full",
        r"No space left on device|Disk quota exceeded|os error 28\b",
        "the disk is full",
    ),
    cause(
        "engine.host_out_of_memory",
        r"DefaultCPUAllocator: can't allocate memory|Cannot allocate memory|cudaHostAlloc\w*.*(?:fail"
        r"|error)|failed to (?:allocate|pin)"
        r"\w* .*(?:pinned|host) memory|cudaErrorHostMemory|std::bad_alloc|MemoryError",
        "the host's memory did not suffice (pinned tables count in full)",
    ),
    cause(
        "engine.worker_killed",
        r"(?P<worker>[\w-]+) died unexpectedly \(exit code: (?P<exit_code>-?\d+)\)"
        r"|^Killed$|exit(?:ed with)? code:? (?P<exit_code2>-9|137)\b"
        r"|Failed core proc\(s\): \{'(?P<worker2>[^']+)': (?P<exit_code3>-9|-15)\b",
        "a worker process was ended from outside (exit code {exit_code}): the host may be out of memory",
        ("exit_code",),
    ),
)

GPU_CAUSES = (
    cause(
        "engine.process_crashed",
        r"Failed core proc\(s\): \{'(?P<worker>[^']+)': (?P<exit_code>-(?:4|6|8|11))\b|!!!+ Segfault encountered"
        r"|Fatal Python error: (?P<problem>(?:Segmentation fault|Aborted|Illegal instruction))",
        "a process of the engine crashed (exit code {exit_code})",
        ("exit_code",),
    ),
    cause(
        "engine.compat_shadows_driver",
        r"Error 803\b|system has unsupported display driver",
        "CUDA error 803: compatibility libraries of the image shadow the host's driver",
    ),
    cause(
        "engine.driver_too_old",
        r"Error 804\b|forward compatibility was attempted on non supported HW",
        "CUDA error 804: the host's driver is older than the image's CUDA",
    ),
    cause(
        "engine.driver_too_old",
        r"NVIDIA driver on your system is too old(?: \(found version (?P<found>\d+)\))?"
        r"|CUDA driver version is insufficient"
        r"|unsatisfied condition: (?P<condition>cuda[^,\s]*)"
        r"|the provided PTX was compiled with an unsupported toolchain",
        "the host's driver is too old for the image ({condition})",
    ),
    cause(
        "engine.no_kernel_image",
        r"no kernel image is available|is not compatible with the current PyTorch installation"
        r"|ptxas fatal.*(?P<arch>sm_\w+)"
        r"|not compiled with SM (?P<arch2>\d+)",
        "the image has no kernels for this card's architecture",
    ),
    cause(
        "engine.no_gpu_visible",
        r"Failed to infer device type|Device string must not be empty"
        r"|libcuda\.so\.1: cannot open shared object file|No CUDA GPUs are available|Found no NVIDIA driver"
        r"|no CUDA-capable device is detected"
        r"|No platform detected|Found 0 (?:CUDA )?(?:GPUs|devices)|CUDA_ERROR_NO_DEVICE",
        "the engine sees no GPU inside its container",
    ),
    cause(
        "engine.too_few_gpus",
        r"World size \((?P<wanted>\d+)\) is larger than the number of available GPUs \((?P<found>\d+)\)"
        r"|invalid device ordinal"
        r"|tensor parallel size \(?(?P<wanted2>\d+)\)? cannot be larger than the number of available GPUs",
        "the engine is to use {wanted} GPUs and sees {found}",
        ("wanted", "found"),
    ),
    cause(
        "engine.gpu_failed",
        r"CUDA error: (?P<kind>GPU is lost|uncorrectable \w+ error[^\n]*|an illegal memory access[^\n]*"
        r"|unspecified launch failure"
        r"|unknown error|misaligned address|device-side assert[^\n]*|an illegal instruction[^\n]*"
        r"|the launch timed out[^\n]*"
        r"|initialization error|all CUDA-capable devices are busy[^\n]*|CUDA-capable device\(s\) is/are busy[^\n]*"
        r"|hardware stack error|invalid argument)|Unexpected error from cudaGetDeviceCount\(\).*?"
        r"Error (?P<kind2>(?!100\b|2\b)\d{1,3}: [^(\n]+)",
        "a GPU or a kernel on it failed: {kind}",
    ),
    cause(
        "engine.gpu_failed",
        r"Failed to initialize NVML: (?P<kind>[^\n]*)|NVMLError\w*: (?P<kind2>[^\n]*)",
        "NVML does not answer inside the container",
    ),
    cause(
        "engine.nccl_failed",
        r"NCCL (?:error|WARN|failure)(?P<kind>[^\n]*)|ncclSystemError|ncclUnhandledCudaError"
        r"|ncclInternalError|DistBackendError",
        "the GPUs could not talk to each other (NCCL)",
    ),
)
