"""W3C trace context: reading what came in, naming what is ours, writing what goes out.

Only `traceparent` and `tracestate`; baggage is neither read nor sent.
"""

import re
from random import Random
from typing import Final, NamedTuple

MAX_TRACESTATE: Final = 512
"""Characters; a longer `tracestate` is dropped whole (W3C Trace Context 3.3.1.5)."""

_TRACEPARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_MEMBER: Final = r"[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
_TRACESTATE: Final = re.compile(rf"{_MEMBER}(?:[ \t]*,[ \t]*{_MEMBER}){{0,31}}", re.ASCII)
_SAMPLED: Final = 0x01
_TRACE_BITS: Final = 128
_SPAN_BITS: Final = 64
_RATIO_BITS: Final = 64


class SpanName(NamedTuple):
    """What identifies a span across processes.

    Attributes:
        trace_id: 128 bits, not 0.
        span_id: 64 bits, not 0.
        sampled: whether it is, or should be, recorded.
    """

    trace_id: int
    span_id: int
    sampled: bool

    @property
    def traceparent(self) -> str:
        """The header's value, version 00."""
        return f"00-{self.trace_id_hex}-{self.span_id_hex}-{'01' if self.sampled else '00'}"

    @property
    def trace_id_hex(self) -> str:
        return self.trace_id.to_bytes(_TRACE_BITS // 8, "big").hex()

    @property
    def span_id_hex(self) -> str:
        return self.span_id.to_bytes(_SPAN_BITS // 8, "big").hex()


def parse_traceparent(header: str | None) -> SpanName | None:
    """What the header names, or None for anything that the specification says to ignore."""
    found = _TRACEPARENT.fullmatch(header) if header else None
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more):
        return None
    name = SpanName(int(trace, 16), int(span, 16), bool(int(flags, 16) & _SAMPLED))
    return name if name.trace_id and name.span_id else None


def parse_tracestate(header: str | None) -> str | None:
    """The header as it is, or None when it is too long or malformed."""
    if not header or len(header) > MAX_TRACESTATE or not _TRACESTATE.fullmatch(header):
        return None
    return header


class Namer:
    """Draws names for spans and decides which root spans are recorded."""

    __slots__ = ("_below", "_bits")

    def __init__(self, sample_ratio: float, random: Random) -> None:
        """`sample_ratio`: of the traces that begin here, from 0 to 1."""
        self._bits = random.getrandbits
        self._below = round(sample_ratio * (1 << _RATIO_BITS))

    def root(self) -> SpanName:
        """The first span of a new trace. Sampled by its trace id, so that every process would decide alike."""
        trace_id = self._bits(_TRACE_BITS) or 1
        return SpanName(trace_id, self._bits(_SPAN_BITS) or 1, trace_id & ((1 << _RATIO_BITS) - 1) < self._below)

    def child(self, parent: SpanName) -> SpanName:
        """A span below `parent`, recorded exactly when that is."""
        return SpanName(parent.trace_id, self._bits(_SPAN_BITS) or 1, parent.sampled)
