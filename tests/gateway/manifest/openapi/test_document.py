"""Somebody else's text as plain values."""

import pytest

from gateway.manifest.openapi.document import MAX_BYTES, OpenApiError, parse


def test_json_and_yaml_are_the_same_values() -> None:
    """Whichever a service publishes; keys stay texts, also `200:` and `on:`."""
    as_json = parse("a", b'{"a": [1, true, null, "x"], "200": {"on": 1.5}}').value
    as_yaml = parse("a", b"a: [1, true, null, x]\n200:\n  on: 1.5\n").value

    assert as_json == as_yaml


def test_an_alias_is_the_value_of_its_anchor() -> None:
    """Documents use them; no copy is made, so that they cannot multiply."""
    value = parse("a.yaml", b"a: &x {b: 1}\nc: [*x, *x]\n").value

    assert value["c"] == [{"b": 1}, {"b": 1}]
    assert value["c"][0] is value["c"][1]


def test_a_number_that_no_reader_keeps_is_let_through() -> None:
    """The bound of int64 stands in many documents, and is dealt with where it is used."""
    assert parse("a", b'{"maximum": 9223372036854775807}').value == {"maximum": 9223372036854775807}
    assert parse("a", b"maximum: 9223372036854775807").value == {"maximum": "9223372036854775807"}


@pytest.mark.parametrize(
    ("source", "words", "place"),
    [
        (b'{"a": 1,\n "b" 2}', "not JSON", (2, 6)),
        (b"a: 1\nb: [1", "not YAML", (3, 1)),
        (b"a: 1\nb: 2\na: 3", "`a` is here twice", (3, 1)),
        (b'{"a": 1, "a": 2}', "`a` twice", None),
        (b"a: *x", "no anchor", (1, 4)),
        (b"a: &x {c: *x}", "no anchor", (1, 11)),
        (b"a:\n  <<: {b: 1}", "merge key", (2, 3)),
        (b"? [a]\n: 1", "not text", (1, 3)),
        (b"a: 1\n---\nb: 2", "second document", (2, 1)),
        (b'{"a": NaN}', "NaN", None),
        (b'{"a": 1e999}', "too large", None),
        (b"\xff", "UTF-8", None),
        (b"[" * 300 + b"]" * 300, "nested", (1, 202)),
        (b'{"a":' * 100_000, "nested", None),
        (b" " * (MAX_BYTES + 1), "16 MiB", None),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(source: bytes, words: str, place: tuple[int, int] | None) -> None:
    """One sentence, never a traceback."""
    with pytest.raises(OpenApiError) as caught:
        parse("a", source)

    assert words in str(caught.value)
    found = caught.value.place
    assert (None if found is None else (found.line, found.column)) == place


def test_aliases_cannot_multiply() -> None:
    """Nine lines would stand for a billion values; they are counted as what a walk over them meets."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]

    with pytest.raises(OpenApiError, match="larger than 2000000 values"):
        parse("a.yaml", "\n".join(lines).encode())
