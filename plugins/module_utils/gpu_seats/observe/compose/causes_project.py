"""Failure texts about a project: its files, and how its containers start, most specific first."""

from __future__ import annotations

from .cause import NAME, cause

FILE_CAUSES = (
    cause(
        "compose.container_name_taken",
        r"container name \"/?(?P<name>[^\"]+)\" is already in use by container \"?(?P<other>[0-9a-f]+)?",
        "the container name {name} is already in use",
        False,
        "name",
    ),
    cause(
        "compose.project_name_invalid",
        r"invalid project name:? \"?(?P<name>[^\"]*)\"?: must",
        "{name!r} is no valid project name",
    ),
    cause("compose.project_name_invalid", r"project name must not be empty", "the project has no name"),
    cause(
        "compose.file_missing",
        r"no configuration file provided: not found|(?:open|stat) (?P<name>\S*compose\S*\.ya?ml): no such file",
        "there is no Compose file",
    ),
    cause(
        "compose.env_file_missing",
        r"env file (?P<name>\S+) not found|Couldn't find env file:? (?P<other>\S+)|(?:open|stat"
        r"|failed to read) (?P<third>\S*\.env\S*): no such file",
        "the env file {name} does not exist",
    ),
    cause(
        "compose.env_file_invalid",
        r"open (?P<name>\S*\.env\S*): permission denied",
        "the env file {name} can't be read by this user",
    ),
    cause(
        "compose.env_file_invalid",
        r"failed to read (?P<name>\S+?): line (?P<other>\d+): |unexpected character .* in variable name|dotenv: ",
        "the env file {name} can't be read as one",
    ),
    cause(
        "compose.variable_required",
        r"required variable (?P<name>\w+) is missing a value",
        "the variable {name} has no value",
    ),
    cause(
        "compose.interpolation_invalid",
        r"[Ii]nvalid interpolation format for (?P<name>[^\s:]+?)[.:]?(?:\s|$)|[Ii]nvalid template: ",
        "{name} holds a $ that is no variable",
    ),
    cause(
        "compose.yaml_invalid",
        r"(?:yaml|go-yaml|error converting YAML)[^:]*: (?:while|line (?P<name>\d+)|unmarshal|did not find"
        r"|mapping|control|found|invalid|unknown|construct)[^\n]*"
        r"|mapping key \"[^\"]*\" already defined"
        r"|found character that cannot start any token"
        r"|mapping values are not allowed",
        "the Compose file is no valid YAML: {line}",
    ),
    cause(
        "compose.mount_not_a_directory",
        r"trying to mount a directory onto a file|not a directory: unknown"
        r"|mountpoint for .* not a directory|is not a directory",
        "a mount joins a file and a directory",
    ),
    cause(
        "compose.mount_source_missing",
        r"error while creating mount source path '(?P<name>[^']+)': mkdir \S+: (?:file exists|transport endpoint)",
        "the mounted path {name} is there and can't be used: a file, or a mount that is gone",
    ),
    cause(
        "compose.mount_source_missing",
        r"bind source path does not exist: (?P<name>[^\s,]+)|error while creating mount source path '(?P<other>[^']+)'"
        r"|failed to mount local volume: mount (?P<third>[^\s:]+)",
        "the mounted path {name} does not exist",
    ),
    cause("compose.mount_source_missing", r"invalid mount config for type \"bind\"", "a mounted path does not exist"),
    cause(
        "compose.service_unknown",
        rf"no such service: {NAME}|depends on undefined service {NAME.replace('name', 'other')}",
        "there is no service {name}",
    ),
    cause(
        "compose.schema_invalid",
        r"validating (?P<name>\S+?): (?P<other>.*)|[Aa]dditional propert(?:y|ies) .* not allowed"
        r"|unexpected type map|invalid compose project|neither an image nor a build context"
        r"|must be a (?:string|mapping|list|number|boolean|integer)|empty compose file"
        r"|invalid (?:hostPort|containerPort|IP address|ip address|proto|start port)|refers to undefined"
        r"|has invalid (?:type|value)|services\.\S+ (?:must|value)|No ports? specified"
        r"|top-level object must be a mapping",
        "the Compose file does not follow the schema: {line}",
    ),
)

START_CAUSES = (
    cause(
        "compose.dependency_failed",
        rf"dependency failed to start: (?:container )?{NAME}\s*(?P<other>.*)$",
        "what a service waits for did not come up: {name} {other}",
        False,
        "name",
    ),
    cause(
        "compose.dependency_failed",
        rf"container (?P<name>[\w.-]+) (?:is unhealthy|exited \(\d+\)|has no healthcheck)"
        rf"|service {NAME.replace('name', 'other')}\S* didn't complete successfully",
        "container {name} did not become healthy",
        False,
        "name",
    ),
    cause(
        "container.oom_killed",
        r"OOM-?killed|memory limit too low|out of memory: killed process",
        "a container ran out of memory while it started",
    ),
    cause("container.rlimit_refused", r"error setting rlimit", "the engine may not raise a limit (ulimits)"),
    cause(
        "container.command_missing",
        r"exec: \"(?P<name>[^\"]*)\": (?:executable file not found|stat .* no such file"
        r"|permission denied)|exec (?P<other>\S+): (?:no such file|permission denied)",
        "the image has no program {name}",
    ),
    cause(
        "container.cgroup_failed",
        r"cgroups?: |cgroup config|cgroup subsystem|devices cgroup|bpf_prog_(?:query|attach)|cgroup mount"
        r"|unable to apply cgroup|Minimum memory limit|Range of CPUs|memory\+?swap limit should be",
        "the engine could not set a container's resources",
    ),
    cause(
        "container.mode_conflict",
        r"network_mode is incompatible with port_bindings"
        r"|conflicting options: |Conflicting options: |invalid IPC mode|cannot join (?:network|IPC) of"
        r"|non-running container",
        "options of a container exclude each other",
    ),
    cause(
        "compose.dependency_failed",
        r"application not healthy after (?P<name>\S+)",
        "the containers did not become healthy within {name}",
    ),
    cause(
        "compose.timeout",
        r"context deadline exceeded|Read timed out|request canceled|Client\.Timeout|i/o timeout"
        r"|operation timed out|timeout waiting",
        "Docker Engine did not finish in time",
        True,
    ),
)
