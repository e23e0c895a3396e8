"""KV sizes are read as vLLM's parser reads them, and declared sizes reach it without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.plan.kv_bytes import KvBytesError, bytes_of_mib, engine_text, kv_bytes
from gpu_seats.units import size_mib


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14G", 14 * 2**30),
        ("14g", 14 * 10**9),
        ("1.5g", 1_500_000_000),
        ("512M", 512 * 2**20),
        ("0.25k", 250),
        ("15032385536", 15032385536),
    ],
)
def test_read_as_the_engine_reads_it(text, expected):
    assert kv_bytes(text) == expected


@pytest.mark.parametrize("text", ["14GiB", "1.5G", "14 G", "14gb", "G", "", "-1G", "1e9", "14.G"])
def test_refused_as_the_engine_refuses_it(text):
    with pytest.raises(KvBytesError):
        kv_bytes(text)


@pytest.mark.parametrize(
    ("declared", "engine"),
    [("14GiB", "14G"), ("14336MiB", "14G"), ("1.5GiB", "1536M"), ("15GB", "15000000000"), ("512KiB", "512K")],
)
def test_declared_size_as_engine_text(declared, engine):
    assert engine_text(bytes_of_mib(size_mib(declared))) == engine


@given(st.integers(min_value=1, max_value=2**50))
def test_engine_reads_back_exactly_what_was_written(size):
    assert kv_bytes(engine_text(size)) == size


def test_nothing_is_refused():
    with pytest.raises(KvBytesError, match="above 0"):
        engine_text(0)
