"""Texts with holes."""

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.placeholders import (
    ABSENT,
    CallValues,
    Environment,
    Reference,
    RenderError,
    Secret,
    TemplateError,
    fill,
    join,
    parse,
    text_of,
)

CALLER = Caller(subject="ana", tenant="acme", attributes={"limit": 5, "deep": {"x": "y"}})
VALUES = CallValues(args={"a": 1, "b": {"c": "d"}, "n": None}, key="k", run_id="r-1", caller=CALLER)


def test_every_kind_of_hole_is_read() -> None:
    """Literal text, environment, secret and the values of a call, in order."""
    assert parse("x${NAME}-{args.b.c}${secret:TOKEN}{key}") == (
        "x",
        Environment("NAME"),
        "-",
        Reference("args", ("b", "c")),
        Secret("TOKEN"),
        Reference("key", ()),
    )


def test_doubled_braces_are_braces() -> None:
    """`{{` and `}}` stand for themselves and join the text around them."""
    assert parse("a{{b}}c") == ("a{b}c",)
    assert parse("") == ()


@pytest.mark.parametrize(
    ("text", "offset"),
    [("ab{", 2), ("a}b", 1), ("{args}", 0), ("x{nope.x}", 1), ("{run.step}", 0), ("{caller.permissions}", 0),
     ("{}", 0), ("${lower}", 0), ("${secret:}", 0), ("${}", 0), ("{args. x}", 0), ("{key.x}", 0), ("{caller.attributes}", 0)],
)  # fmt: skip
def test_a_hole_of_no_known_kind_is_an_error_at_its_offset(text: str, offset: int) -> None:
    """The author is told where, and what there is."""
    with pytest.raises(TemplateError) as caught:
        parse(text)

    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("hole", "value"),
    [("{args.a}", 1), ("{args.b.c}", "d"), ("{args.n}", None), ("{args.x}", ABSENT), ("{args.a.x}", ABSENT), ("{key}", "k"),
     ("{run.id}", "r-1"), ("{caller.subject}", "ana"), ("{caller.tenant}", "acme"), ("{caller.attributes.limit}", 5),
     ("{caller.attributes.deep.x}", "y")],
)  # fmt: skip
def test_a_reference_reads_its_value(hole: str, value: object) -> None:
    """A missing argument is told from one that is null."""
    (reference,) = parse(hole)
    assert isinstance(reference, Reference)

    assert reference.read(VALUES) == value
    assert reference.name == hole.strip("{}")


@pytest.mark.parametrize(
    ("hole", "code"),
    [
        ("{run.id}", ErrorCode.RUN_ID_REQUIRED),
        ("{caller.subject}", ErrorCode.FORBIDDEN),
        ("{caller.attributes.customer}", ErrorCode.FORBIDDEN),
    ],
)
def test_a_value_that_only_the_caller_has_is_never_left_out(hole: str, code: ErrorCode) -> None:
    """A request filtered by a customer who is not there would list everybody's: it is refused, with a code that says why."""
    (reference,) = parse(hole)
    assert isinstance(reference, Reference)
    without = CallValues(args={}, key="k", caller=None if "subject" in hole else CALLER)

    with pytest.raises(RenderError, match=r"this call has no") as caught:
        reference.read(without)
    assert caught.value.code is code


def test_scalars_are_written_as_json_writes_them() -> None:
    """Booleans and numbers have one spelling; null, lists and objects have none in a text."""
    reference = Reference("args", ("a",))

    assert [text_of(value, reference) for value in ("x", True, False, 5, 1.5)] == ["x", "true", "false", "5", "1.5"]
    for value in (None, [], {}, ABSENT):
        with pytest.raises(RenderError) as caught:
            text_of(value, reference)
        assert caught.value.code is ErrorCode.INVALID_ARGUMENTS


def test_join_puts_values_between_the_literals() -> None:
    """A text with holes becomes one text."""
    assert join(parse("a={args.a}&k={key}"), VALUES) == "a=1&k=k"


def test_fill_puts_in_what_the_operator_lists_and_nothing_else() -> None:
    """Values with braces stay text, neighbours are joined, and an unlisted name is an error."""
    pieces = parse("${A}/x/${secret:B}{args.a}")

    assert fill(pieces, {"A": "{v}"}, {"B": "w"}) == ("{v}/x/w", Reference("args", ("a",)))
    with pytest.raises(
        TemplateError, match="A is not an environment name that the operator lists; add `--manifest-env A`"
    ):
        fill(pieces, {"B": "w"}, {"B": "w"})
    with pytest.raises(
        TemplateError, match="B is not a secret that the operator has; put the file B into `secrets_dir`"
    ):
        fill(pieces, {"A": "v", "B": "w"}, {})
