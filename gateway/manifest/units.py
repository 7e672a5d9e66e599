"""Durations, sizes and rates as people write them: always with their unit."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.policies import Rate

_SECONDS: Final[Mapping[str, float]] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES: Final[Mapping[str, int]] = {"B": 1, "kB": 1000, "KiB": 1024, "MB": 1_000_000, "MiB": 1_048_576}

DURATION_PATTERN: Final = r"^[0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)$"
SIZE_PATTERN: Final = r"^[0-9]{1,9}(B|kB|KiB|MB|MiB)$"
RATE_PATTERN: Final = r"^[1-9][0-9]{0,8}/(s|m|h|d)$"


def duration_s(text: Any) -> float:
    """Seconds of `250ms`, `1.5s`, `5m`, `2h`, `30d`.

    Raises:
        ValueError: it is none of these.
    """
    if not isinstance(text, str) or not re.fullmatch(DURATION_PATTERN[1:-1], text):
        raise ValueError("write a duration with its unit: 250ms, 5s, 10m, 2h or 30d")
    number = text.rstrip("msh" + "d")
    return round(float(number) * _SECONDS[text[len(number) :]], 6)


def size_bytes(text: Any) -> int:
    """Bytes of `512B`, `64KiB`, `1MiB`, `500kB`, `1MB`.

    Raises:
        ValueError: it is none of these.
    """
    if not isinstance(text, str) or not re.fullmatch(SIZE_PATTERN[1:-1], text):
        raise ValueError("write a size with its unit: 512B, 64KiB or 1MiB")
    number = text.rstrip("BkKMi")
    return int(number) * _BYTES[text[len(number) :]]


def rate(text: Any) -> Rate:
    """A rate of `50/s`, `600/m`, `1000/h`, `5000/d`.

    Raises:
        ValueError: it is none of these.
    """
    if not isinstance(text, str) or not re.fullmatch(RATE_PATTERN[1:-1], text):
        raise ValueError("write a rate as calls per unit: 50/s, 600/m, 1000/h or 5000/d")
    count, unit = text.split("/")
    return Rate(count=int(count), per_s=_SECONDS[unit])
