"""Addresses: the host is fixed, values are encoded, and nothing climbs."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.placeholders import CallValues, RenderError, TemplateError, parse
from gateway.manifest.urls import Query, QueryTemplate, Style, UrlTemplate, form_text


def rendered(template: str, **args: Any) -> str:
    """The target of a URL template for these arguments."""
    return UrlTemplate.build(parse(template)).render(CallValues(args=args, key="k"), ())


@pytest.mark.parametrize(
    ("template", "origin"),
    [
        ("https://pay.example/x", "https://pay.example:443"),
        ("http://pay.example", "http://pay.example:80"),
        ("http://PAY.example:8080/{args.a}", "http://pay.example:8080"),
        ("http://[::1]:9/x", "http://[::1]:9"),
        ("http://127.0.0.1?x=1", "http://127.0.0.1:80"),
    ],
)
def test_the_origin_has_its_port(template: str, origin: str) -> None:
    """Scheme, host and port are written out, so that equal origins are equal texts."""
    assert UrlTemplate.build(parse(template)).origin == origin


def test_telemetry_names_the_server_and_the_path_with_its_holes() -> None:
    """No value of a call, and nothing of the query, is in a span's name."""
    url = UrlTemplate.build(parse("https://[::1]:9/v1/orders/{args.order_id}/x-{args.n}?q={args.q}"))

    assert (url.host, url.port, url.path) == ("::1", 9, "/v1/orders/{args.order_id}/x-{args.n}")
    assert UrlTemplate.build(parse("https://pay.example")).path == "/"


@pytest.mark.parametrize(
    "template",
    ["{args.host}/x", "https://{args.host}/x", "https://pay.example{args.a}", "https://pay.{args.a}.example/", "ftp://x/",
     "//x/y", "/x", "", "https:///x", "https://u:p@x/", "https://x:99999/", "https://x/#f", "https://x/a b", "https://x/é",
     "https://x/../y", "https://x/./y", "https://x/%zz", "https://x\\y/", "https://x/{args.a}#f", "https://pay_ex ample/",
     "https://x/a\\b"],
)  # fmt: skip
def test_a_url_that_could_go_elsewhere_is_refused_at_load(template: str) -> None:
    """No call can choose the host, and no literal needs a parser to guess."""
    with pytest.raises(TemplateError):
        UrlTemplate.build(parse(template))


def test_values_are_percent_encoded_in_path_and_query() -> None:
    """Reserved characters of a value never become syntax."""
    assert rendered("https://x/a/{args.a}/b?q={args.q}&z=1", a="ü ?&#;", q="a&b=c/%") == (
        "/a/%C3%BC%20%3F%26%23%3B/b?q=a%26b%3Dc%2F%25&z=1"
    )
    assert rendered("https://x") == "/"
    assert rendered("https://x/o-{args.a}.json", a=5) == "/o-5.json"


@pytest.mark.parametrize(
    "value", ["", ".", "..", "a/b", "a\\b", "%2e%2e", "a\x00", "a\nb", "\x7f", "\x85", "\ud800", None, [], {}]
)
def test_a_path_value_that_climbs_or_ends_the_segment_is_refused(value: Any) -> None:
    """Refused before anything is sent, as the argument's fault."""
    with pytest.raises(RenderError) as caught:
        rendered("https://x/orders/{args.a}/refunds", a=value)
    assert caught.value.name == "args.a"


def test_a_segment_that_climbs_only_as_a_whole_is_refused() -> None:
    """`.` before a hole and `.` in it make `..` together."""
    assert rendered("https://x/.{args.a}", a="b") == "/.b"
    with pytest.raises(RenderError):
        rendered("https://x/{args.a}{args.b}", a="x", b="..")
    with pytest.raises(RenderError):
        rendered("https://x/%2E{args.a}", a=".")


@settings(deadline=None)
@given(st.text(), st.text())
def test_no_value_changes_the_shape_of_the_target(segment: str, parameter: str) -> None:
    """Whatever the values, the target has the template's segments and parameters, and gives the values back."""
    try:
        target = rendered("https://x/a/{args.s}/b?q={args.p}", s=segment, p=parameter)
    except RenderError:
        return
    parts = urlsplit(target)

    assert [unquote(part) for part in parts.path.split("/")] == ["", "a", segment, "b"]
    assert parts.query.count("&") == 0
    assert unquote(parts.query.removeprefix("q=")) == parameter
    assert target.isascii()
    assert target.isprintable()
    assert " " not in target


def test_query_parameters_leave_out_what_was_not_given() -> None:
    """An absent argument is no parameter; a list is one parameter an item; a null is refused."""
    template = QueryTemplate(parameters=(("a", parse("{args.a}")), ("b", parse("x-{args.b}")), ("c", parse("lit"))))

    assert template.render(CallValues(args={"a": [1, "y"], "b": 2}, key="k")) == (
        ("a", "1"),
        ("a", "y"),
        ("b", "x-2"),
        ("c", "lit"),
    )
    assert template.render(CallValues(args={"b": True}, key="k")) == (("b", "x-true"), ("c", "lit"))
    assert [reference.name for reference in template.references] == ["args.a", "args.b"]
    with pytest.raises(RenderError):
        template.render(CallValues(args={"a": None, "b": 1}, key="k"))
    with pytest.raises(RenderError):
        template.render(CallValues(args={"a": "\udc00", "b": 1}, key="k"))


def test_declared_query_follows_the_urls_own() -> None:
    """Both kinds of parameters end up in one query, encoded once."""
    url = UrlTemplate.build(parse("https://x/a?fixed=1&"))

    assert url.render(CallValues(args={}, key="k"), (("n m", "a b"),)) == "/a?fixed=1&n%20m=a%20b"
    assert [reference.name for reference in UrlTemplate.build(parse("https://x/{args.a}?b={args.b}")).references] == [
        "args.a",
        "args.b",
    ]


@pytest.mark.parametrize(
    ("style", "value", "query"),
    [
        ("repeat", ["a", "b c"], (("q", "a"), ("q", "b c"))),
        ("comma", ["a", "b c", 1, True], (("q", "a,b c,1,true"),)),
        ("space", ["a", "b"], (("q", "a b"),)),
        ("pipe", ["a", "b"], (("q", "a|b"),)),
        ("comma", [], ()),
        ("comma", "a", (("q", "a"),)),
        ("deep_object", {"a": "x&y=z", "b-c": 2}, (("q[a]", "x&y=z"), ("q[b-c]", "2"))),
    ],
)
def test_a_list_or_an_object_is_written_in_its_style(style: Style, value: Any, query: Query) -> None:
    """As one parameter an item, one parameter for all, or one a member."""
    template = QueryTemplate(parameters=(("q", parse("{args.q}")),), styles={"q": style})

    assert template.render(CallValues(args={"q": value}, key="k")) == query
    assert template.render(CallValues(args={}, key="k")) == ()


@pytest.mark.parametrize(
    ("style", "value"),
    [
        ("comma", ["a,b"]),
        ("space", ["a b"]),
        ("pipe", ["a|b"]),
        ("comma", [["a"]]),
        ("comma", ["\ud800"]),
        ("deep_object", {"a][b": "x"}),
        ("deep_object", {"": "x"}),
        ("deep_object", {"a": ["x"]}),
        ("deep_object", ["x"]),
        ("deep_object", "x"),
    ],
)
def test_no_text_becomes_another_item_member_or_parameter(style: Style, value: Any) -> None:
    """It is refused before anything is sent."""
    template = QueryTemplate(parameters=(("q", parse("{args.q}")),), styles={"q": style})

    with pytest.raises(RenderError):
        template.render(CallValues(args={"q": value}, key="k"))


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_a_form_reads_back_as_what_was_given(given: dict[str, str]) -> None:
    """Names and values stay names and values."""
    names = {name: text for name, text in given.items() if name.isprintable()}

    assert dict(parse_qsl(form_text(tuple(names.items())), keep_blank_values=True)) == names
