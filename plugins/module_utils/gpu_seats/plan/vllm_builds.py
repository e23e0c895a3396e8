"""What a vLLM image is (release, candidate, development build, nightly) and whether it has a feature.

A feature is known by the merge that it came with. Builds are never ordered by version text alone: ``v0.29.1rc0`` is a
tag on main that has what ``v0.29.0``'s branch, cut before the merge, has not, and a development build
``0.29.1rc1.dev17+g<commit>`` stands 17 commits after the tag ``0.29.1rc0``.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

FEATURES_FILE = Path(__file__).resolve().parent.parent / "data" / "vllm" / "features.json"

Kind = Literal["release", "candidate", "dev", "nightly", "unknown"]
Has = Literal["yes", "no", "unknown"]

_COMMIT = re.compile(r"^[0-9a-f]{7,40}$")
_RELEASE = re.compile(r"^v?(\d+\.\d+\.\d+)(?:\.post\d+)?$")
_CANDIDATE = re.compile(r"^v?(\d+\.\d+\.\d+)rc(\d+)$")
_DEV = re.compile(r"^v?(\d+\.\d+\.\d+)(?:rc(\d+))?\.dev(\d+)(?:[+._-]g([0-9a-f]{7,40}))?")
_NIGHTLY_DATE = re.compile(r"^nightly-(\d{4})-?(\d{2})-?(\d{2})$")
_PLATFORM_SUFFIX = re.compile(r"-(?:x86_64|aarch64|arm64|cu\d+|ubuntu\d+|debian\d+)")


@dataclass(frozen=True)
class Build:
    """A vLLM build as its image names it.

    version: ``0.30.0`` of a release, ``0.29.1rc0`` of a candidate; of a dev build the tag that it stands after, where
    that is known. date: the day a nightly was built, or the declared one. reason: why `kind` is unknown.
    """

    text: str
    kind: Kind
    version: str | None = None
    commit: str | None = None
    date: datetime.date | None = None
    commits_after: int = 0
    reason: str = ""


def image_tag(image: str) -> tuple[str | None, bool]:
    """(tag, has a digest) of an image name; the registry's port is not a tag."""
    name, _, digest = image.partition("@")
    last = name.rsplit("/", 1)[-1]
    return (last.partition(":")[2] or None), bool(digest)


def build_of(image: str, built: datetime.date | None = None) -> Build:
    """The build that `image` names; `built` is the operator's word for an image whose tag does not tell."""
    tag, digest = image_tag(image)
    found = _build_of_tag(tag, digest)
    if built is not None and found.kind in ("nightly", "unknown") and found.date is None:
        return Build(found.text, "nightly", commit=found.commit, date=built)
    return found


def _build_of_tag(tag: str | None, digest: bool) -> Build:
    if tag is None:
        where = "only a digest" if digest else "no tag"
        return Build("", "unknown", reason=f"the image has {where}, which does not tell what it holds")
    bare = _PLATFORM_SUFFIX.sub("", tag)
    if (match := _RELEASE.fullmatch(bare)) is not None:
        return Build(tag, "release", match[1])
    if (match := _CANDIDATE.fullmatch(bare)) is not None:
        return Build(tag, "candidate", f"{match[1]}rc{match[2]}")
    if (match := _DEV.match(bare)) is not None:
        return _dev_build(tag, match)
    if (match := _NIGHTLY_DATE.fullmatch(bare)) is not None:
        return _dated_nightly(tag, match)
    rest = bare.removeprefix("nightly-")
    if _COMMIT.fullmatch(rest):
        why = f"the tag {tag} names a commit and no day"
        return Build(tag, "nightly", commit=rest, reason=why)
    return Build(tag, "unknown", reason=f"the tag {tag} does not tell what it holds")


def _dev_build(tag: str, match: re.Match[str]) -> Build:
    """``0.29.1rc1.devN`` counts N commits from the tag before it, ``0.29.1rc0``; others do not name their tag."""
    version, candidate, count, commit = match.groups()
    after = f"{version}rc{int(candidate) - 1}" if candidate and int(candidate) > 0 else None
    reason = "" if after else f"the tag {tag} does not tell after which tag it was built"
    return Build(tag, "dev", after, commit, None, int(count), reason)


def _dated_nightly(tag: str, match: re.Match[str]) -> Build:
    try:
        return Build(tag, "nightly", date=datetime.date(int(match[1]), int(match[2]), int(match[3])))
    except ValueError:
        return Build(tag, "unknown", reason=f"the tag {tag} holds no day of the calendar")


@lru_cache(maxsize=1)
def build_facts() -> dict[str, Any]:
    """``data/vllm/features.json``: features with the merge they came with, releases, tags on main."""
    facts: dict[str, Any] = json.loads(FEATURES_FILE.read_text(encoding="utf-8"))
    return facts


def known_features() -> list[str]:
    return sorted(build_facts()["features"])


def version_key(version: str) -> tuple[int, ...]:
    """Numbers of a release for comparison among releases only."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def has_feature(build: Build, feature: str) -> tuple[Has, str]:
    """Whether `build` has `feature`, and why. Raises KeyError for a feature that nobody described."""
    facts = build_facts()
    known = facts["features"][feature]
    merge = f"{feature} came with vLLM #{known['pull_request']}, merged {known['merged'][:16].replace('T', ' ')} UTC"
    answer, why = _decide(build, known, facts)
    return answer, f"{why}; {merge}; in releases from {known['first_release']}"


def _decide(build: Build, known: dict[str, Any], facts: dict[str, Any]) -> tuple[Has, str]:
    if build.date is not None:
        return _by_date(build.date, known, facts)
    if build.kind == "release" and build.version is not None:
        return _by_release(build.version, known)
    if build.kind in ("candidate", "dev") and build.version is not None:
        return _by_tag(build, build.version, known)
    return "unknown", build.reason or f"{build.text} does not tell what it holds"


def _by_date(date: datetime.date, known: dict[str, Any], facts: dict[str, Any]) -> tuple[Has, str]:
    merged = datetime.datetime.fromisoformat(known["merged"])
    hour, minute = (int(part) for part in facts["nightly_built_utc"].split(":"))
    built = datetime.datetime(date.year, date.month, date.day, hour, minute, tzinfo=datetime.timezone.utc)
    if built > merged:
        return "yes", f"built {date.isoformat()}, after the merge"
    return "no", f"built {date.isoformat()} at about {facts['nightly_built_utc']} UTC, before the merge"


def _by_release(version: str, known: dict[str, Any]) -> tuple[Has, str]:
    if version_key(version) >= version_key(known["first_release"]):
        return "yes", f"release {version} has it"
    if version_key(version) <= version_key(known["last_release_without"]):
        at_edge = version == known["last_release_without"]
        return "no", known["why_absent"] if at_edge else f"release {version} is older than the merge"
    return "unknown", f"{version} is a patch release beside the merge, and nobody looked whether it was picked"


def _by_tag(build: Build, tag: str, known: dict[str, Any]) -> tuple[Has, str]:
    """Candidates of a release carry its branch; other candidates are tags on main, known one by one."""
    if tag in known["main_tags_with_it"]:
        after = (
            f"{build.commits_after} commits after the tag {tag}" if build.kind == "dev" else f"{tag} is a tag on main"
        )
        return "yes", f"{after}, which has the merge"
    release = tag.partition("rc")[0]
    if version_key(release) >= version_key(known["first_release"]):
        return "yes", f"{tag} was cut after the merge"
    if version_key(release) <= version_key(known["last_release_without"]) and build.kind == "candidate":
        return "no", f"{tag} belongs to release {release}, whose branch was cut before the merge"
    return "unknown", f"where {build.text} was built on main is not known"
