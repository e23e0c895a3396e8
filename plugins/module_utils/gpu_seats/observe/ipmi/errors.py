"""Texts of ipmitool that say why there is no answer: no way to the BMC, a refused login, a refused request."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...findings import Finding, finding

UNREACHABLE, AUTH, NO_DEVICE, BUSY = "bmc.unreachable", "bmc.auth_failed", "bmc.no_device", "bmc.busy"
UNSUPPORTED, REFUSED = "bmc.power_unsupported", "bmc.request_failed"
FINAL = (UNREACHABLE, AUTH, NO_DEVICE, "bmc.password_too_long", "command.missing", "command.failed", "command.hung")
"""Codes after which no other request to this BMC can succeed now."""

_CODE = re.compile(r"\((?:0x)?(?P<code>[0-9a-f]{2})h?\)|\b0x(?P<hex>[0-9a-f]{2})\b", re.IGNORECASE)
_BUSY_CODES = {"c0", "c3", "c4", "ce", "d0", "d1", "d2", "d3"}
"""Completion codes that pass: node busy, timeout, no space, no response, updating, initializing, unavailable."""
_BUSY_WORDS = re.compile(
    r"node busy|initiali[sz](?:ation|ing)|in update mode|firmware? .*update|\btimeout\b|timed out|out of space"
    r"|destination unavailable|response could not be provided|try again|resource temporarily",
    re.IGNORECASE,
)
_PRIVILEGE_CODES = {"d4"}
_PRIVILEGE_WORDS = re.compile(r"insufficient privilege|privilege level exceeds", re.IGNORECASE)
_UNSUPPORTED_CODES = {"c1", "c2", "c7", "c8", "c9", "ca", "cb", "cc", "cd", "d5", "d6"}
_UNSUPPORTED_WORDS = re.compile(
    r"invalid command|not supported|parameter out of range|data, or record not found|record not found"
    r"|invalid data field|data length invalid|command disabled|command illegal|cannot return number",
    re.IGNORECASE,
)

_DCMI_REFUSED = re.compile(r"DCMI request failed because:?\s*(?P<reason>.*)$", re.IGNORECASE)
_DCMI_SILENT = re.compile(r"Unable to get DCMI information|DCMI response is too short", re.IGNORECASE)
_DCMI_OTHER = re.compile(r"A valid DCMI command was not returned", re.IGNORECASE)
_REFUSED = re.compile(
    r"(?:Get Device ID|Get SDR|Get SEL|Get Chassis|Reserve SEL|Get Sensor|Get Channel Info)[^:]*? (?:command )?failed"
    r"(?::\s*(?P<reason>.*))?$"
    r"|(?:Error (?:sending|obtaining|getting|reading|updating)"
    r"|Unable to (?:open|reserve|send|read|get|obtain)(?! sensor))\b[^:]*(?::\s*(?P<reason2>.*))?$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^(?:Error )|\s*(?:command )?failed$", re.IGNORECASE)
_DENIED_LOGIN = re.compile(
    r"HMAC is invalid|invalid integrity check value|RAKP \d message indicates an error|no response from RAKP \d message"
    r"|Invalid user ?name|password verification|Activate Session (?:error|command failed)"
    r"|Get Session Challenge command failed|Set Session Privilege Level to \S+ failed"
    r"|Authentication type \S+ not supported|no matching cipher suite|unauthorized (?:name|role)|invalid role"
    r"|(?:authentication|integrity|encryption) algorithm 0x\w+ is not what we requested"
    r"|Unable to read password from|Unable to open password file|No password specified|error generating RAKP"
    r"|insufficient privilege level|requested privilege level exceeds limit|invalid password|password invalid",
    re.IGNORECASE,
)
_NO_SESSION_LEFT = re.compile(
    r"insufficient resources (?:for|to create)|message.*insufficient resources|no session slot|no slot available"
    r"|out of sessions",
    re.IGNORECASE,
)
_LONG_PASSWORD = re.compile(r"password is longer than (?P<bytes>\d+) bytes", re.IGNORECASE)
_NO_SESSION = re.compile(r"Unable to establish (?:LAN session|IPMI v\S+(?: / \S+)? session)", re.IGNORECASE)
_NO_ROUTE = re.compile(
    r"Address lookup for .* failed|Could not open socket|Get Auth Capabilities error|Get Channel Authentication Cap"
    r"|connection (?:refused|timed out)|no route to host|network is unreachable|host is down|unable to connect"
    r"|no response from remote controller|connect failed|Unable to Get Channel Cipher Suites",
    re.IGNORECASE,
)
_NO_DEVICE = re.compile(r"Could not open device at (?P<paths>.*?)(?::\s*(?P<reason>[^:]+))?$", re.IGNORECASE)
_MISSING = re.compile(
    r"ipmitool:? (?:command )?not found|ipmitool'?: No such file|No such file or directory: '\S*ipmitool'"
    r"|exec: \"ipmitool\"|not recognized as an internal",
    re.IGNORECASE,
)
_HUNG = re.compile(r"^(?:timeout: .*|Killed|Terminated|.*command timed out.*)$", re.IGNORECASE)
_CRASHED = re.compile(r"^(?:Segmentation fault.*|Aborted.*|Bus error.*|\*\*\* .*)$", re.IGNORECASE)
_USAGE = re.compile(
    r"^(?:Invalid (?:dcmi|sel|sdr|sensor|chassis)? ?command\b|ipmitool: (?:invalid|unrecognized) option"
    r"|usage: ?ipmitool|No command provided|Error loading interface|Unknown (?:interface|privilege level)"
    r"|No hostname specified|Given port|Invalid parameter given)",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^(?:Loading IANA PEN|IANA PEN registry|Using best available cipher|Running Get |Discovered IPMB|Acquire IPMB"
    r"|Set IPMB address|Iana:|Invalid completion code received|Error response 0x\w+ from Get PICMG"
    r"|Interface address|Using ipmi device|Password:\s*$|Close Session command failed"
    r"|Error: Received an Unexpected|Received a response with unexpected|IPMI response is NULL"
    r"|File \S+ does not exist|Locating sensor record)",
    re.IGNORECASE,
)
"""What ipmitool prints on the way, also when the answer then comes."""


_ROW = re.compile(r"\||^(?:0x)?[0-9a-f]{1,4},", re.IGNORECASE)
"""A row of a list. The words of a logged event ("Insufficient Resources") are no error of ipmitool's."""


@dataclass
class BmcErrors:
    """Error lines of one output as findings, the strongest first, and the lines that are none.

    lines: what was printed of the way to the BMC. It counts only where no answer follows: ipmitool repeats a lost
    request and prints an error for each.
    """

    session: list[Finding] = field(default_factory=list)
    requests: list[Finding] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    def found(self, answered: bool) -> list[Finding]:
        """The findings to give: with an answer in hand, those of its requests alone."""
        return list(self.requests) if answered else [*self.session, *self.requests]


def take_errors(text: str) -> BmcErrors:
    """Takes error lines out of `text`; the rest is for the parser of the asked command."""
    errors = BmcErrors()
    login: list[str] = []
    route: list[str] = []
    for line in text.splitlines():
        stripped = line.strip().lstrip(">").strip()
        bare = re.sub(r"^Error:\s*", "", stripped)
        if _ROW.search(stripped):
            errors.rest.append(line)
            continue
        if _CHATTER.match(stripped) and not _NO_SESSION.search(stripped):
            continue
        if one := _password(bare) or _device(bare) or _tool(bare):
            errors.session.append(one)
        elif _NO_SESSION_LEFT.search(bare):
            message = f"the BMC has no session left: {bare}"
            errors.session.append(finding("bmc.busy", "bmc:access", message, {"text": bare}))
        elif _DENIED_LOGIN.search(bare) and not _DCMI_REFUSED.search(bare):
            login.append(bare)
        elif _NO_SESSION.search(bare) or _NO_ROUTE.search(bare):
            route.append(bare)
        elif request := _request(bare):
            errors.requests.append(request)
        else:
            errors.rest.append(line)
    errors.session = [*errors.session, *_access(login, route, bool(errors.session))]
    return errors


def _access(login: list[str], route: list[str], explained: bool) -> list[Finding]:
    """One finding for all lines of a failed session. A refused login ends with the same line as a dead BMC."""
    if login:
        text = _best_login_line(login)
        return [finding(AUTH, "bmc:access", _login_message(text), {"text": text, "lines": [*login, *route][:8]})]
    if route and not explained:
        unknown = route[0].lower().startswith("address lookup")
        message = f"the BMC {'has a name that leads nowhere' if unknown else 'does not answer'}: {route[0]}"
        return [finding(UNREACHABLE, "bmc:access", message, {"text": route[0], "lines": route[:8]})]
    return []


def _best_login_line(login: list[str]) -> str:
    """The line that says most: "no response from RAKP" comes before the cause."""
    told = [line for line in login if "no response from" not in line.lower()]
    return (told or login)[0]


def _login_message(text: str) -> str:
    low = text.lower()
    if "hmac is invalid" in low or "integrity check" in low:
        return f"the BMC refused the login: the password is not right ({text})"
    if "unauthorized name" in low or "user name" in low or "username" in low:
        return f"the BMC refused the login: it does not know the user ({text})"
    if "no response from rakp" in low:
        return f"the BMC opened a session and then did not answer the login: unknown user, or overloaded ({text})"
    if "privilege" in low or "role" in low:
        return f"the BMC's user may not do this: its privilege is too low ({text})"
    if "cipher suite" in low or "algorithm" in low or "authentication type" in low:
        return f"BMC and ipmitool agree on no way to log in: another cipher suite or interface is needed ({text})"
    if "password f" in low:
        return f"ipmitool was given no password that it can read ({text})"
    return f"the BMC refused the login: {text}"


def _password(line: str) -> Finding | None:
    match = _LONG_PASSWORD.search(line)
    if match is None:
        return None
    message = "ipmitool does not take the password: it is longer than {} bytes".format(match.group("bytes"))
    return finding("bmc.password_too_long", "bmc:access", message, {"text": line, "bytes": int(match.group("bytes"))})


def _device(line: str) -> Finding | None:
    match = _NO_DEVICE.search(line)
    if match is None:
        return None
    reason = (match.group("reason") or "no reason given").strip()
    denied = "permission" in reason.lower() or "not permitted" in reason.lower()
    what = "this user may not open the BMC's device" if denied else "this host has no usable device of a BMC"
    return finding("bmc.no_device", "bmc:access", f"{what}: {reason}", {"text": line, "reason": reason})


def _tool(line: str) -> Finding | None:
    if _MISSING.search(line):
        return finding("command.missing", "tool:ipmitool", "ipmitool is not installed here", {"text": line})
    if _HUNG.match(line):
        return finding("command.hung", "tool:ipmitool", "ipmitool gave no answer in time", {"text": line})
    if _CRASHED.match(line) or _USAGE.match(line):
        return finding("command.failed", "tool:ipmitool", f"ipmitool failed: {line}", {"text": line})
    return None


def _request(line: str) -> Finding | None:
    """A request that the BMC was given and refused."""
    dcmi = _DCMI_REFUSED.search(line)
    if dcmi:
        return refusal("bmc:power", "the DCMI power request", dcmi.group("reason"), line, UNSUPPORTED)
    if _DCMI_SILENT.search(line):
        return finding(BUSY, "bmc:power", "the BMC gave no answer to the DCMI power request", {"text": line})
    if _DCMI_OTHER.search(line):
        message = f"the BMC answered the DCMI power request with something else: {line}"
        return finding(UNSUPPORTED, "bmc:power", message, {"text": line})
    match = _REFUSED.search(line)
    if match is None:
        return None
    reason = (match.group("reason") or match.group("reason2") or "").strip()
    asked = _ASKED.sub("", line[: line.index(":")] if ":" in line else line)
    if not reason:
        return finding(BUSY, "bmc:access", f"the BMC gave no answer: {line}", {"text": line})
    return refusal("bmc:access", asked, reason, line, REFUSED)


def refusal(subject: str, what: str, reason: str, line: str, unsupported: str) -> Finding:
    """The finding for a completion code: passing, a matter of rights, or for good (then code `unsupported`)."""
    match = _CODE.search(reason)
    code = (match.group("code") or match.group("hex")).lower() if match else ""
    evidence = {"text": line, "reason": reason.strip(), "completion_code": code or None}
    if code in _BUSY_CODES or (not code and _BUSY_WORDS.search(reason)):
        return finding(BUSY, subject, f"the BMC is busy, {what} failed: {reason.strip()}", evidence)
    if code in _PRIVILEGE_CODES or _PRIVILEGE_WORDS.search(reason):
        message = f"the BMC's user may not do this, {what} failed: {reason.strip()}"
        return finding(AUTH, subject, message, evidence)
    if code in _UNSUPPORTED_CODES or (not code and _UNSUPPORTED_WORDS.search(reason)):
        message = f"this BMC does not support it, {what} failed: {reason.strip()}"
        return finding(unsupported, subject, message, evidence)
    message = "the BMC refused it, {} failed: {}".format(what, reason.strip() or "no reason given")
    return finding(REFUSED, subject, message, evidence)
