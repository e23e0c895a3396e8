"""Findings about the observation itself: text that could not be read, commands that did not answer."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "parse.unrecognised": FindingKind(
        "warning",
        "The text is no form that the tool is known to print, so nothing was read from it.",
        "Check that the right tool is named. If it is, report the output: gpu-seats parse TOOL FILE --json.",
    ),
    "parse.truncated": FindingKind(
        "error",
        "The output stops early or is damaged. Records before the cut are given, the rest is unknown.",
        "Ask the tool again; when it repeats, look for a full disk, a killed process or a cut pipe.",
    ),
    "parse.not_text": FindingKind(
        "error",
        "The input is binary data, not a tool's output.",
        "Give the text that the tool printed.",
    ),
    "parse.fault": FindingKind(
        "error",
        "A parser failed on this text; what it holds is unknown.",
        "Save the output and report it: gpu-seats parse TOOL FILE --json.",
    ),
    "parse.row_malformed": FindingKind(
        "warning",
        "A row does not have the columns of its header; what could not be placed is unknown.",
        "Ask the tool again; compare the row with its header.",
    ),
    "parse.columns_unknown": FindingKind(
        "warning",
        "Rows without a header, and nothing says which columns were asked.",
        "Keep the header, or put the command above the rows as a note: # $ nvidia-smi --query-gpu=...",
    ),
    "parse.other_tool": FindingKind(
        "info",
        "The text was printed by another tool for the same thing; it was read as far as it goes.",
        "Prefer the named tool: the other one leaves facts out.",
    ),
    "parse.other_object": FindingKind(
        "info",
        "The inspected object is not a container.",
        "Name a container; images and networks have other facts.",
    ),
    "command.missing": FindingKind(
        "error",
        "A program is not installed or not on the search path; what it would say is unknown.",
        "Install the package that brings it, or fix PATH of the user that Ansible becomes.",
    ),
    "command.hung": FindingKind(
        "critical",
        "A command gave no answer within its time limit and was ended. A driver or a file system may be wedged.",
        "Do not repeat it in a loop. Look at the kernel log; a process in state D needs a reboot.",
    ),
    "command.failed": FindingKind(
        "error",
        "A command ended with an error that is not known; what it would say is unknown.",
        "Run it by hand on the host and read its text.",
    ),
    "observe.part_failed": FindingKind(
        "error",
        "One part of the look at the host failed; the other parts are valid.",
        "Read the evidence; run the named part by hand on the host.",
    ),
    "observe.disk_unknown": FindingKind(
        "warning",
        "The free space of a path could not be read.",
        "Check that the path or one of its parents exists and is mounted.",
    ),
}
