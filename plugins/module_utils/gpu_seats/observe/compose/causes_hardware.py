"""Failure texts about ports and GPUs, most specific first."""

from __future__ import annotations

from .cause import AT, NAME, cause

PORT_CAUSES = (
    cause(
        "port.address_not_up",
        rf"(?:{AT}.*)?cannot assign requested address",
        "the host address {address} is on no interface (yet)",
        True,
        "port",
    ),
    cause("port.privileged", rf"{AT}.*bind: permission denied", "this engine may not bind port {port}", False, "port"),
    cause(
        "port.taken",
        rf"Bind for {AT} failed: port is already allocated",
        "port {port} is published by another container",
        False,
        "port",
    ),
    cause(
        "port.taken",
        rf"Ports are not available:.*?{AT}",
        "port {port} is held by another program on the host",
        False,
        "port",
    ),
    cause(
        "port.taken",
        rf"bind host port (?:for )?{AT}\b.*(?:address already in use|port is already allocated)",
        "port {port} is held by another program on the host",
        False,
        "port",
    ),
    cause(
        "port.taken",
        rf"listen (?:tcp|udp)[46]? {AT}: bind: address already in use",
        "port {port} is held by another program on the host",
        False,
        "port",
    ),
    cause(
        "port.taken",
        r"port is already allocated|address already in use|EADDRINUSE|Only one usage of each socket address",
        "a published port is taken",
    ),
    cause("port.taken", r"host-mode port already in use", "a published port is taken"),
    cause("port.taken", r"all ports are allocated", "every port of the published range is taken"),
)

GPU_CAUSES = (
    cause(
        "gpu.runtime_missing",
        r"could not select device driver \"(?P<driver>[^\"]+)\" with capabilities",
        "Docker Engine has no device driver {driver}",
    ),
    cause(
        "gpu.runtime_missing",
        r"could not select device driver \"\" with capabilities: \[*(?P<name>[^\]]*)",
        "Docker Engine has no device driver for {name}",
    ),
    cause("gpu.runtime_missing", rf"unknown or invalid runtime name: {NAME}", "Docker Engine has no runtime {name}"),
    cause(
        "gpu.cdi_unresolved",
        r"unresolvable CDI devices?\s+(?P<name>.+?)(?:: unknown)?\.?$",
        "CDI knows no device {name}",
    ),
    cause(
        "gpu.cdi_unresolved", r"CDI device injection failed:?\s*(?P<name>.*)$", "CDI could not give the device: {name}"
    ),
    cause(
        "gpu.unknown_device",
        r"device error: (?P<name>[^:]*): unknown device",
        "the NVIDIA runtime knows no card {name}",
    ),
    cause(
        "gpu.unknown_device",
        r"(?:no such|unknown) device(?: id)?: (?P<name>GPU-[\w-]+)",
        "the NVIDIA runtime knows no card {name}",
    ),
    cause(
        "gpu.driver_requirement",
        r"unsatisfied condition: (?P<name>[^,\s]+)|requirement error: invalid expression: (?P<other>[^,\s]+)",
        "the image needs {name}, the host's driver is older",
    ),
    cause(
        "gpu.driver_mismatch",
        r"nvml error: driver/library version mismatch|Driver/library version mismatch",
        "user space and the loaded kernel module are of different versions",
    ),
    cause(
        "gpu.driver_unreachable",
        r"nvml error: driver not loaded|driver error: driver not loaded",
        "the NVIDIA driver is not loaded on the host",
    ),
    cause(
        "gpu.driver_library_missing",
        r"load library failed: (?P<name>libnvidia-ml\S+?):",
        "the NVIDIA runtime can't load {name}",
    ),
    cause(
        "gpu.container_lost_device",
        r"Failed to initialize NVML: Unknown Error|nvml error: unknown error",
        "NVML answers Unknown Error",
    ),
    cause(
        "gpu.lost",
        r"nvml error: gpu is lost|CUDA error: GPU is lost",
        "the NVIDIA runtime finds a card that is lost",
    ),
    cause(
        "gpu.no_devices",
        r"nvml error: no device found|nvml error: not found",
        "the driver runs but sees no card",
    ),
    cause(
        "gpu.permission_denied",
        r"nvml error: insufficient permissions",
        "the NVIDIA runtime may not ask the driver",
    ),
    cause(
        "gpu.device_node_missing",
        r"failed to stat CDI host device \"(?P<name>/dev/nvidia[^\"]*)\"",
        "{name} is not there (yet)",
        True,
    ),
    cause(
        "gpu.device_node_missing",
        r"error gathering device information while adding custom device \"(?P<name>/dev/nvidia[^\"]*)\"",
        "{name} is not there (yet)",
        True,
    ),
    cause(
        "gpu.device_node_missing",
        r"(?:stat|open|lstat) (?P<name>/dev/nvidia\S*): no such file or directory",
        "{name} is not there (yet)",
        True,
    ),
    cause(
        "compose.device_missing",
        r"error gathering device information while adding custom device \"(?P<name>[^\"]*)\"",
        "device {name} is not there",
    ),
    cause(
        "gpu.container_toolkit_failed",
        r"nvidia-container-runtime(?:-hook)?\b.*(?:not found|no such file)",
        "the NVIDIA runtime is not installed where Docker looks for it",
    ),
    cause(
        "gpu.container_toolkit_failed",
        r"nvidia-container-(?:cli|runtime|toolkit)[\w.-]*: (?P<name>.+?)(?:: unknown)?\.?$",
        "the NVIDIA runtime failed: {name}",
    ),
    cause(
        "gpu.container_toolkit_failed",
        r"failed to enable CUDA compat: (?P<name>.*?)\"?$",
        "the NVIDIA runtime could not enable the image's CUDA compatibility libraries: {name}",
    ),
    cause(
        "gpu.count_and_ids",
        r"cannot set both Count and DeviceIDs|count\"? and \"?device_ids\"? attributes are exclusive"
        r"|\"count\" and \"device_ids\"",
        "count and device_ids are both given",
    ),
    cause(
        "gpu.count_invalid",
        r"invalid (?:string )?value (?:for 'count'"
        r"|\"[^\"]*\", the only value allowed is 'all')"
        r"|devices\.\S*\.?count must be|\bcount\"?[:,]? (?:must be|expected)\b.*int",
        "the count of a device request is not a number",
    ),
    cause(
        "gpu.capability_missing",
        r"(?:devices\S*|device request).*capabilities(?: is required|' is required)"
        r"|missing propert(?:y|ies):? ['\"]?capabilities",
        "a device request has no capabilities",
    ),
    cause(
        "gpu.id_coerced",
        r"devices\.\d+\.device_ids\.\d+ must be a string"
        r"|device_ids\b.*(?:got number, want string|contains an invalid type)",
        "an id in device_ids is no text: it stands unquoted in the file",
    ),
)
