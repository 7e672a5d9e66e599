"""Values and requests with holes."""

import uuid
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.manifest.placeholders import ABSENT, CallValues, RenderError, TemplateError, parse
from gateway.manifest.policies import DownstreamKey, KeyFormat, KeyPlace
from gateway.manifest.templates import HeaderTemplate, RequestTemplate, ValueTemplate
from gateway.manifest.urls import QueryTemplate, UrlTemplate

OPERATION_KEY = "pL3X9dYk0aHcE-3oJmW_8sVtq2RzUu7bQfN1gIx6Z4w"


def request(key: DownstreamKey | None = None, body: Any = None, **parts: Any) -> RequestTemplate:
    """A request to one fixed address."""
    return RequestTemplate(
        method="POST",
        url=UrlTemplate.build(parse("https://pay.example/x")),
        query=QueryTemplate(),
        body=None if body is None else ValueTemplate(body),
        downstream_key=key,
        **parts,
    )


@pytest.mark.parametrize(
    "other",
    [
        {"method": "GET"},
        {"url": UrlTemplate.build(parse("https://pay.example:444/x"))},
        {"url": UrlTemplate.build(parse("https://pay.example/y"))},
        {"url": UrlTemplate.build(parse("https://pay.example/x?account=1"))},
        {"query": QueryTemplate(parameters=(("account", ("1",)),))},
        {"form": QueryTemplate(parameters=(("account", ("1",)),))},
        {"headers": (HeaderTemplate(name="X-Account", pieces=("1",)),)},
    ],
)
def test_a_place_is_whom_a_request_asks(other: dict[str, Any]) -> None:
    """Everything that the operator's environment may have written, but no secret."""
    assert replace(request(), **other).place != request().place
    assert request(secret_headers=(("Authorization", "x"),)).place == request().place


def test_a_lone_hole_keeps_its_json_type() -> None:
    """Numbers stay numbers, objects stay objects; inside a text they are text."""
    template = ValueTemplate({"n": "{args.n}", "o": ["{args.o}"], "t": "no {args.n}", "c": 5, "b": "{{x}}"})

    values = CallValues(args={"n": 5, "o": {"x": None}}, key="k")
    assert template.render(values) == {"n": 5, "o": [{"x": None}], "t": "no 5", "c": 5, "b": "{x}"}
    assert [reference.name for reference in template.references] == ["args.n", "args.o", "args.n"]


def test_what_was_not_given_is_left_out() -> None:
    """An optional argument leaves no null behind; a null that was given stays."""
    template = ValueTemplate({"a": "{args.a}", "list": ["{args.a}", 1], "n": "{args.n}"})

    assert template.render(CallValues(args={"n": None}, key="k")) == {"list": [1], "n": None}
    assert ValueTemplate("{args.a}").render(CallValues(args={}, key="k")) is ABSENT


def test_a_broken_template_is_an_error_at_load() -> None:
    """Templates are parsed once, when the manifest is."""
    with pytest.raises(TemplateError):
        ValueTemplate({"a": ["{nope}"]})


def test_a_request_is_rendered_whole() -> None:
    """Method, origin, target, headers in order, and a compact JSON body."""
    template = request(
        body={"n": "{args.n}"},
        headers=(
            HeaderTemplate(name="X-Run", pieces=parse("run-{run.id}")),
            HeaderTemplate(name="X-N", pieces=parse("{args.z}")),
        ),
        secret_headers=(("Authorization", "Bearer s3cret"),),
    )

    rendered = template.render(CallValues(args={"n": 5}, key="k", run_id="7"))
    assert (rendered.method, rendered.origin, rendered.target) == ("POST", "https://pay.example:443", "/x")
    assert rendered.headers == (("X-Run", "run-7"),)
    assert rendered.body == b'{"n":5}'
    assert "s3cret" not in repr(rendered)
    assert "s3cret" not in repr(template)


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "\x00", "é", "\x7f", ["x"], None])
def test_a_value_cannot_end_a_header(value: Any) -> None:
    """Line breaks, controls and characters beyond ASCII are refused, not replaced."""
    template = request(headers=(HeaderTemplate(name="X-A", pieces=parse("{args.a}")),))

    with pytest.raises(RenderError):
        template.render(CallValues(args={"a": value}, key="k"))


@pytest.mark.parametrize(
    ("place", "form", "where", "expected"),
    [
        (KeyPlace.HEADER, KeyFormat.RAW, "headers", (("Key", OPERATION_KEY),)),
        (KeyPlace.HEADER, KeyFormat.QUOTED, "headers", (("Key", f'"{OPERATION_KEY}"'),)),
        (KeyPlace.QUERY, KeyFormat.RAW, "target", f"/x?Key={OPERATION_KEY}"),
        (KeyPlace.BODY, KeyFormat.RAW, "body", f'{{"a":1,"Key":"{OPERATION_KEY}"}}'.encode()),
    ],
)
def test_the_downstream_key_goes_where_the_downstream_reads_it(
    place: KeyPlace, form: KeyFormat, where: str, expected: object
) -> None:
    """Header, query and body; quoted in a header only."""
    template = request(DownstreamKey(in_=place, name="Key", format=form, window_s=60), body={"a": 1})

    rendered = template.render(CallValues(args={}, key=template.key_value(OPERATION_KEY)))
    assert getattr(rendered, where) == expected


def test_a_key_goes_into_a_body_that_is_not_there() -> None:
    """A request without a body of its own gets one for the key."""
    template = request(DownstreamKey(in_=KeyPlace.BODY, name="Key", window_s=60))

    assert template.render(CallValues(args={}, key="k")).body == b'{"Key":"k"}'


def test_a_key_has_the_downstreams_format() -> None:
    """A UUID is derived from the key, a short key is its beginning, and both are the same every time."""
    form = request(DownstreamKey(in_=KeyPlace.HEADER, name="K", format=KeyFormat.UUID, window_s=60))
    short = request(DownstreamKey(in_=KeyPlace.HEADER, name="K", max_length=22, window_s=60))

    assert uuid.UUID(form.key_value(OPERATION_KEY)).version == 4
    assert form.key_value(OPERATION_KEY) == form.key_value(OPERATION_KEY) != form.key_value("other")
    assert short.key_value(OPERATION_KEY) == OPERATION_KEY[:22]
    assert request().key_value(OPERATION_KEY) == OPERATION_KEY


def test_values_that_no_json_text_has_are_refused() -> None:
    """Half a character cannot be sent; the call is refused before anything is."""
    with pytest.raises(RenderError):
        request(body={"a": "{args.a}"}).render(CallValues(args={"a": "\ud800"}, key="k"))


def test_a_body_that_is_one_absent_argument_is_empty() -> None:
    """Nothing given, nothing sent."""
    assert request(body="{args.a}").render(CallValues(args={}, key="k")).body == b""


def test_callers_reach_templates() -> None:
    """Operator-given attributes stand in requests as they are."""
    caller = Caller(subject="ana", tenant="acme", attributes={"customer": 7})

    rendered = request(body={"c": "{caller.attributes.customer}", "s": "{caller.subject}"}).render(
        CallValues(args={}, key="k", caller=caller)
    )
    assert rendered.body == b'{"c":7,"s":"ana"}'


def test_a_form_is_the_body_and_takes_the_key() -> None:
    """Encoded as a query is, with the key behind it where the downstream reads it there."""
    form = QueryTemplate(parameters=(("a b", parse("{args.x}")), ("c", parse("{args.none}"))))
    key = DownstreamKey(in_=KeyPlace.BODY, name="key", window_s=1)
    template = RequestTemplate(
        method="POST", url=UrlTemplate.build(("http://h/",)), query=QueryTemplate(), form=form, downstream_key=key
    )

    assert template.render(CallValues(args={"x": "1&y=2"}, key="k")).body == b"a%20b=1%26y%3D2&key=k"
