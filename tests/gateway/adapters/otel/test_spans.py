from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.trace import SpanKind, StatusCode

from gateway.adapters.otel.context import SpanName
from gateway.adapters.otel.spans import Place, SpanSink
from gateway.stages.monitor.ports import LinkType

RESOURCE = Resource({"service.name": "oncegate"})
SPAN = SpanName(1, 2, sampled=True)


class Kept(SpanProcessor):
    """Keeps what has ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


def _emitted(place: Place, *, error: bool = False, said: str = "") -> Sequence[ReadableSpan]:
    kept = Kept()
    SpanSink(kept, RESOURCE, "0.1").emit("s", SpanKind.INTERNAL, place, {"a": 1}, (10, 20), error=error, said=said)
    return kept.spans


def test_a_span_is_whole_when_it_is_emitted() -> None:
    """It has everything that the SDK's own encoder asks of a span."""
    parent = Place(SpanName(1, 9, sampled=True), None, "a=1", remote=True)
    place = Place(SPAN, parent, "a=1")
    place.links.append((SpanName(3, 4, sampled=True), LinkType.RECONCILES))

    (span,) = _emitted(place)
    wire: Any = encode_spans([span])
    encoded = wire.resource_spans[0].scope_spans[0].spans[0]

    assert (encoded.trace_id, encoded.span_id, encoded.parent_span_id) == (
        (1).to_bytes(16, "big"),
        (2).to_bytes(8, "big"),
        (9).to_bytes(8, "big"),
    )
    assert (encoded.start_time_unix_nano, encoded.end_time_unix_nano, encoded.trace_state) == (10, 20, "a=1")
    assert encoded.links[0].attributes[0].value.string_value == "reconciles"
    assert wire.resource_spans[0].scope_spans[0].scope.name == "oncegate"
    assert wire.resource_spans[0].scope_spans[0].scope.version == "0.1"


@pytest.mark.parametrize(("said", "description"), [("", None), ("the connection broke", "the connection broke")])
def test_an_error_is_a_status_with_words_of_ours_or_none(said: str, description: str | None) -> None:
    """Texts of errors could hold anything; the type is an attribute."""
    (span,) = _emitted(Place(SPAN), error=True, said=said)

    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, description)


def test_what_is_not_sampled_is_not_emitted() -> None:
    """The flag is asked before anything is made."""
    assert _emitted(Place(SpanName(1, 2, sampled=False))) == []


def test_a_sink_without_a_processor_is_off() -> None:
    """Nothing is made and nothing fails."""
    sink = SpanSink(None, RESOURCE, "0.1")
    sink.emit("s", SpanKind.INTERNAL, Place(SPAN), {}, (0, 0), error=False)
    sink.shutdown()

    assert sink.on is False
