"""Durations, sizes and rates."""

import re
from typing import Any

import pytest

from gateway.manifest.policies import Rate
from gateway.manifest.units import DURATION_PATTERN, SIZE_PATTERN, duration_s, rate, size_bytes


@pytest.mark.parametrize(
    ("text", "seconds"), [("250ms", 0.25), ("1.5s", 1.5), ("5m", 300), ("2h", 7200), ("30d", 2592000), ("0s", 0)]
)
def test_durations_are_seconds(text: str, seconds: float) -> None:
    """Every unit becomes seconds."""
    assert duration_s(text) == seconds
    assert re.search(DURATION_PATTERN, text)


@pytest.mark.parametrize(
    ("text", "size"), [("512B", 512), ("64KiB", 65536), ("1MiB", 1048576), ("2kB", 2000), ("1MB", 10**6)]
)
def test_sizes_are_bytes(text: str, size: int) -> None:
    """Binary and decimal units become bytes."""
    assert size_bytes(text) == size
    assert re.search(SIZE_PATTERN, text)


def test_rates_are_calls_per_seconds() -> None:
    """A rate keeps its unit, so that 600 a minute may come in bursts that 10 a second may not."""
    assert rate("50/s") == Rate(count=50, per_s=1)
    assert rate("600/m") == Rate(count=600, per_s=60)
    assert rate("9/h") == Rate(count=9, per_s=3600)
    assert rate("9/d") == Rate(count=9, per_s=86400)


@pytest.mark.parametrize("text", [5, "5", "5 s", "-1s", "1e3s", "s", "5S", None, "\u0665s", "5s\n", True, "0/s"])
def test_a_number_without_its_unit_is_refused(text: Any) -> None:
    """Nobody has to guess whether 5 is seconds or bytes."""
    for read in (duration_s, size_bytes, rate):
        with pytest.raises(ValueError, match="write a"):
            read(text)
