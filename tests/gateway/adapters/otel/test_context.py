from random import Random

import pytest

from gateway.adapters.otel.context import Namer, SpanName, parse_traceparent, parse_tracestate

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def test_a_traceparent_is_read_and_written_alike() -> None:
    """What comes in goes out again, letter for letter."""
    header = f"00-{TRACE}-{SPAN}-01"
    name = parse_traceparent(header)

    assert name == SpanName(int(TRACE, 16), int(SPAN, 16), sampled=True)
    assert name is not None
    assert (name.traceparent, name.trace_id_hex, name.span_id_hex) == (header, TRACE, SPAN)


def test_the_sampled_flag_is_one_bit() -> None:
    """Other flags, such as the random bit, do not mean sampled."""
    for flags, sampled in (("00", False), ("02", False), ("03", True)):
        name = parse_traceparent(f"00-{TRACE}-{SPAN}-{flags}")
        assert name is not None
        assert name.sampled is sampled


def test_a_later_version_may_say_more() -> None:
    """The first four fields of an unknown version are used (W3C Trace Context 4.3)."""
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01-what-else") is not None
    assert parse_traceparent(f"00-{TRACE}-{SPAN}-01-what-else") is None


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
        f"00-{TRACE[:-1]}٣-{SPAN}-01",
    ],
)
def test_anything_else_is_no_traceparent(header: str | None) -> None:
    """A malformed header is ignored, never repaired."""
    assert parse_traceparent(header) is None


def test_a_tracestate_goes_through_as_it_is() -> None:
    """Several members, multi-tenant keys and optional whitespace are fine."""
    header = "congo=t61rcWkgMzE, rojo@vendor=00f067aa0ba902b7,a/b=x y"

    assert parse_tracestate(header) == header


@pytest.mark.parametrize("header", [None, "", "no-value", "A=1", "a=", "a=1\r\nx: y", f"a={'x' * 511}", "a=1,,b=2"])
def test_a_malformed_tracestate_is_dropped(header: str | None) -> None:
    """It is dropped whole, so that nothing can be smuggled into a downstream header."""
    assert parse_tracestate(header) is None


def test_children_share_their_parents_trace_and_fate() -> None:
    """Same trace, same sampling, another span."""
    parent = SpanName(1, 2, sampled=False)
    child = Namer(1.0, Random(1)).child(parent)  # noqa: S311 - no secret

    assert (child.trace_id, child.sampled) == (1, False)
    assert child.span_id != 2


@pytest.mark.parametrize(("ratio", "least", "most"), [(0.0, 0, 0), (0.25, 200, 300), (1.0, 1000, 1000)])
def test_a_share_of_the_roots_is_sampled(ratio: float, least: int, most: int) -> None:
    """The ratio is that of the traces that begin here."""
    namer = Namer(ratio, Random(1))  # noqa: S311 - no secret

    assert least <= sum(namer.root().sampled for _ in range(1000)) <= most
