"""Values and places from libyaml's events, and everything that is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.yaml_events import MAX_CHARACTERS, MAX_NODES, Place, YamlError, parse


def refusal(source: str | bytes) -> YamlError:
    """The error of a source that must not parse."""
    with pytest.raises(YamlError) as caught:
        parse(source)
    return caught.value


def test_every_key_and_value_has_its_place() -> None:
    """Places are 1-based, in flow and block style alike, and count characters."""
    document = parse('a: 1\nb:\n  - x\n  - {é: "q", c: no}\n')

    assert document.value == {"a": 1, "b": ["x", {"é": "q", "c": "no"}]}
    assert document.place(("a",)) == Place(1, 4)
    assert document.place(("b", 1, "é")) == Place(4, 9, '"')
    assert document.key_place(("b", 1, "c")) == Place(4, 14)
    assert document.key_place(("b", 0)) == Place(3, 5)


def test_a_path_that_is_not_there_has_its_parents_place() -> None:
    """A complaint about something missing points at what it is missing from."""
    document = parse("a: {b: 1}\n")

    assert document.place(("a", "x", "y")) == Place(1, 4)


@pytest.mark.parametrize(
    ("source", "word", "line", "column"),
    [
        ("a: &x 1\nb: *x", "anchors", 1, 4),
        ("a: 1\nb: *x", "anchors", 2, 4),
        ("a: {<<: {b: 1}}", "merge keys", 1, 5),
        ("a: !!str 1", "tags", 1, 4),
        ("a: ! x", "tags", 1, 4),
        ("%YAML 1.1\n---\na: 1", "directives", 1, 1),
        ("%TAG ! tag:x,2000:\n---\na: 1", "directives", 1, 1),
        ("a: 1\n---\nb: 2", "second document", 2, 1),
        ("a: 1\n\na: 2", "twice; the first is in line 1", 3, 1),
        ('"1": a\n1: b', "twice", 2, 1),
        ("? [a]\n: 1", "must be text", 1, 3),
        ("a:\n  true: 1", "must be text", 2, 3),
        ("~: 1", "must be text", 1, 1),
        ("a:\n\tb: 1", "tab", 2, 1),
        ("a: \x07", "U+0007", 1, 4),
        ("a: x\u2028b: 1", "U+2028", 1, 5),
        ("a: x\u202eb", "U+202E", 1, 5),
        ("a: 1\rb: 2", "U+000D", 1, 5),
        ("a: \ud800", "U+D800", 1, 4),
        ('{"a": "\\ud83d"}', "half a character", 1, 10),
        ('{"a": "\\ude00\\ud83d"}', "half a character", 1, 10),
        ("a: 9007199254740992", "beyond 2^53", 1, 4),
        ("a: .inf", "infinity", 1, 4),
        ("a: 1e999", "too large", 1, 4),
        ("a: [1", "not YAML", 2, 1),
        ("", "empty", 1, 1),
        ("# nothing\n", "empty", 1, 1),
        (b"a: 1\nb: \xff", "not UTF-8", 2, 4),
    ],
)
def test_what_could_deceive_is_refused_at_its_place(source: str | bytes, word: str, line: int, column: int) -> None:
    """Each refusal names what is wrong and where."""
    error = refusal(source)

    assert word in str(error)
    assert (error.line, error.column) == (line, column)


def test_depth_count_and_size_are_bounded() -> None:
    """64 levels, 20,000 values and 256 Ki characters are accepted, and nothing beyond."""
    parse("[" * 64 + "]" * 64)
    assert "deep" in str(refusal("[" * 66 + "]" * 66))
    assert "values" in str(refusal("[" + "1," * MAX_NODES + "1]"))
    assert "characters" in str(refusal("a: " + "x" * MAX_CHARACTERS))


def test_core_schema_and_not_yaml_1_1() -> None:
    """`no`, `on` and `12:30` are texts; numbers, booleans and null are what JSON has."""
    document = parse("[no, on, 12:30, 010, 0x1F, 1.5, true, ~, '1', 2026-01-01]")

    assert document.value == ["no", "on", "12:30", 10, 31, 1.5, True, None, "1", "2026-01-01"]


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    """Files from other editors load, with the places a person would count."""
    document = parse(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")

    assert document.place(("b",)) == Place(2, 4)


def test_json_with_tabs_is_yaml() -> None:
    """A tab between the members of JSON indents nothing and is no complaint."""
    assert parse('{\n\t"a":\t[1]\n}').value == {"a": [1]}


def test_surrogate_pairs_of_json_are_joined_and_places_stay() -> None:
    """JSON's two escapes of one character are read, and what comes after them keeps its column."""
    source = '{"\\ud83d\\ude00": "x\\uD83D\\uDE00y\\\\ud83d", "b": "\\ud83d\\ude00", "c": 1, "d": "\\ud83d\\ude01"}'
    document = parse(source)

    assert document.value == json.loads(source)
    assert document.place(("c",)).column == source.index("1,") + 1
    assert document.key_place(("d",)).column == source.index('"d"') + 1


def test_an_error_after_a_joined_pair_keeps_its_column() -> None:
    """The columns of refusals count the original text too."""
    source = '{"a": "\\ud83d\\ude00", "b": &x 1}'

    assert refusal(source).column == source.index("&x") + 1


def test_backslashes_outside_double_quotes_are_text() -> None:
    """Only a double-quoted text has escapes; elsewhere the same characters stay as they are."""
    document = parse("a: '\\ud83d\\ude00'\nb: \\ud83d\\ude00\nc: \"\\ud83d\\ude00\"\n")

    assert document.value == {"a": "\\ud83d\\ude00", "b": "\\ud83d\\ude00", "c": "😀"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: "inf" not in str(number))
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="ascii")), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON)
def test_whatever_json_writes_is_read_back(value: object) -> None:
    """ASCII JSON of any value parses to that value: numbers, escapes, pairs, nesting."""
    assert parse(json.dumps(value)).value == value


@settings(deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_parsed_or_refused(source: str | bytes) -> None:
    """No input escapes as another exception."""
    try:
        parse(source)
    except YamlError as error:
        assert error.line >= 1  # noqa: PT017 - either outcome is right
        assert error.column >= 1  # noqa: PT017
