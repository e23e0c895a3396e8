"""Which builds of vLLM have a feature: known by its merge, never by ordering version text."""

from __future__ import annotations

import datetime

import pytest

from gpu_seats.plan.vllm_builds import build_of, has_feature, image_tag

REPO = "vllm/vllm-openai"
SHA = "d2d649e67" + "0" * 31


@pytest.mark.parametrize(
    ("tag", "kind", "version"),
    [
        ("v0.30.0", "release", "0.30.0"),
        ("v0.30.0-x86_64", "release", "0.30.0"),
        ("v0.29.0-cu129-x86_64", "release", "0.29.0"),
        ("v0.29.1rc0", "candidate", "0.29.1rc0"),
        ("0.29.1rc1.dev17+gd2d649e67", "dev", "0.29.1rc0"),
        ("0.29.1rc1.dev17_gd2d649e67", "dev", "0.29.1rc0"),
        ("0.29.1.dev5", "dev", None),
        (f"nightly-{SHA}", "nightly", None),
        ("nightly-2026-09-10", "nightly", None),
        ("nightly-20260910", "nightly", None),
        ("nightly", "unknown", None),
        ("latest", "unknown", None),
        ("nightly-20261399", "unknown", None),
        ("my-build", "unknown", None),
    ],
)
def test_tag_tells_kind_and_version(tag, kind, version):
    build = build_of(f"{REPO}:{tag}")
    assert (build.kind, build.version) == (kind, version)


def test_registry_port_is_no_tag_and_a_digest_tells_nothing():
    assert image_tag("localhost:5000/vllm/vllm-openai") == (None, False)
    assert image_tag("localhost:5000/vllm/vllm-openai:v0.30.0") == ("v0.30.0", False)
    assert build_of("vllm/vllm-openai@sha256:" + "a" * 64).kind == "unknown"
    assert build_of("vllm/vllm-openai:v0.30.0@sha256:" + "a" * 64).version == "0.30.0"


@pytest.mark.parametrize(
    ("tag", "has"),
    [
        ("v0.27.1", "no"),
        ("v0.28.0", "no"),
        ("v0.29.0", "no"),
        ("v0.29.0rc2", "no"),
        ("v0.29.1rc0", "yes"),
        ("v0.29.1", "unknown"),
        ("v0.29.1rc1", "unknown"),
        ("0.29.1rc1.dev17+gd2d649e67", "yes"),
        ("0.29.1.dev17+gd2d649e67", "unknown"),
        ("0.29.0rc3.dev2+gd2d649e67", "unknown"),
        ("v0.30.0rc1", "yes"),
        ("0.30.0rc2.dev3+gd2d649e67", "yes"),
        ("v0.30.0", "yes"),
        ("v0.33.0", "yes"),
        ("v1.0.0", "yes"),
        ("nightly-2026-09-08", "no"),
        ("nightly-2026-09-09", "no"),
        ("nightly-2026-09-10", "yes"),
        (f"nightly-{SHA}", "unknown"),
        ("latest", "unknown"),
    ],
)
def test_engram_offload_is_known_by_its_merge(tag, has):
    answer, why = has_feature(build_of(f"{REPO}:{tag}"), "engram_cpu_offload")
    assert answer == has
    assert "#54371" in why and "2026-09-09 14:32" in why


def test_the_release_cut_before_the_merge_says_so():
    _, why = has_feature(build_of(f"{REPO}:v0.29.0"), "engram_cpu_offload")
    assert "6 hours before the merge" in why


def test_declared_build_day_decides_where_the_tag_does_not_tell():
    for tag in (f"nightly-{SHA}", "latest", "ours"):
        day_of_merge, day_after = datetime.date(2026, 9, 9), datetime.date(2026, 9, 10)
        assert has_feature(build_of(f"{REPO}:{tag}", day_of_merge), "engram_cpu_offload")[0] == "no"
        assert has_feature(build_of(f"{REPO}:{tag}", day_after), "engram_cpu_offload")[0] == "yes"
    assert build_of(f"{REPO}:v0.29.0", datetime.date(2026, 12, 1)).kind == "release"
