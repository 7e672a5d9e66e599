"""Strict JSON: one unambiguous, bounded value, or a refusal that says why."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.contract.canonical import MAX_DEPTH, MAX_INTEGER, NotCanonical, canonical
from gateway.contract.strict_json import InvalidJson, JsonFault, loads

LIMIT = 1_000_000


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (b"", JsonFault.EMPTY),
        (b" \n\t", JsonFault.EMPTY),
        (b"NaN", JsonFault.SYNTAX),
        (b"[Infinity]", JsonFault.SYNTAX),
        (b"1e999", JsonFault.NUMBER_RANGE),
        (b'{"a":-1e999}', JsonFault.NUMBER_RANGE),
        (b"9" * 5000, JsonFault.NUMBER_RANGE),
        (b"9007199254740992", JsonFault.INTEGER_RANGE),
        (b"-9007199254740992", JsonFault.INTEGER_RANGE),
        (b"18446744073709551617", JsonFault.INTEGER_RANGE),
        (b"-9223372036854775809", JsonFault.INTEGER_RANGE),
        (b'"\\ud800"', JsonFault.SYNTAX),
        (b'"\\udc00\\ud800"', JsonFault.SYNTAX),
        (b'"\xed\xa0\x80"', JsonFault.SYNTAX),
        (b'"\xff"', JsonFault.SYNTAX),
        (b"\xef\xbb\xbf{}", JsonFault.SYNTAX),
        ('{"a":1}'.encode("utf-16"), JsonFault.SYNTAX),
        (b'{"a":1,}', JsonFault.SYNTAX),
        (b"{'a':1}", JsonFault.SYNTAX),
        (b"{} {}", JsonFault.SYNTAX),
        (b"01", JsonFault.SYNTAX),
        (b'"\x01"', JsonFault.SYNTAX),
        (b'{"a":1,"a":2}', JsonFault.DUPLICATE_NAME),
        (b'{"a":1,"a":1}', JsonFault.DUPLICATE_NAME),
        (b'{"a":1,"\\u0061":2}', JsonFault.DUPLICATE_NAME),
        (b'[{"x":{"a":"b:c","a":"d"}}]', JsonFault.DUPLICATE_NAME),
        (b'{"a":1,"a":"\\u003a"}', JsonFault.DUPLICATE_NAME),
        (b'{"a":1,"a":"\\u003A"}', JsonFault.DUPLICATE_NAME),
        (b'{"a":' + b"[" * 900 + b"]" * 900 + b',"a":1}', JsonFault.DUPLICATE_NAME),
        (b"[" * 65 + b"]" * 65, JsonFault.TOO_DEEP),
        (b'{"a":' * 65 + b"1" + b"}" * 65, JsonFault.TOO_DEEP),
        (b"[" * 100_000 + b"]" * 100_000, JsonFault.TOO_DEEP),
    ],
)
def test_refusals(document: bytes, fault: JsonFault) -> None:
    """Each document that readers disagree about is refused for its own reason."""
    with pytest.raises(InvalidJson) as refusal:
        loads(document, max_bytes=LIMIT)

    assert refusal.value.fault is fault
    assert str(refusal.value) == fault.value


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (b' {"a": [1, -0.5, "x:y", {"b:": null}]} ', {"a": [1, -0.5, "x:y", {"b:": None}]}),
        (b'{"url":"http://h:1/?a=b:c","t":"09:14:02"}', {"url": "http://h:1/?a=b:c", "t": "09:14:02"}),
        (b'{"a":"\\u003a"}', {"a": ":"}),
        (b"[1e20, 1e308, -1e20]", [1e20, 1e308, -1e20]),
        (b"9007199254740991", MAX_INTEGER),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
        (b'{"name":1,"Name":2}', {"name": 1, "Name": 2}),
        (b"[" * 64 + b"]" * 64, json.loads("[" * 64 + "]" * 64)),
    ],
)
def test_values(document: bytes, value: Any) -> None:
    """Colons in strings, large floats and equal names in different objects are no fault."""
    assert loads(document, max_bytes=LIMIT) == value


def test_the_bounds_are_the_callers() -> None:
    """Bytes, depth and values are counted against what was asked for; the bound itself is allowed."""
    assert loads(b"[1,2]", max_bytes=5, max_depth=1, max_nodes=3) == [1, 2]
    for bound, fault in (
        ({"max_bytes": 4}, JsonFault.TOO_LARGE),
        ({"max_bytes": 5, "max_depth": 0}, JsonFault.TOO_DEEP),
        ({"max_bytes": 5, "max_nodes": 2}, JsonFault.TOO_MANY_NODES),
    ):
        with pytest.raises(InvalidJson) as refusal:
            loads(b"[1,2]", **bound)
        assert refusal.value.fault is fault


# -- the quick proof that no name is there twice agrees with looking -----------------------------------------------


@pytest.mark.parametrize(
    "document",
    [b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, str(MAX_INTEGER).encode(), str(-MAX_INTEGER).encode()],
)
def test_what_may_come_in_can_be_hashed(document: bytes) -> None:
    """Where a document is deep or large enough to be refused, canonical JSON would refuse it, and not before."""
    assert canonical(loads(document, max_bytes=10_000)) == document
    beyond = b"[" + document + b"]" if document[:1] == b"[" else document[:-1] + b"2"
    with pytest.raises(InvalidJson):
        loads(beyond, max_bytes=10_000)
    with pytest.raises(NotCanonical):
        canonical(json.loads(beyond))


NAMES = st.sampled_from(["a", ":", "a:b", "\\", '"', "\\u003a", ""])
TEXTS = st.sampled_from(["", ":", "::", '":', "\\", "\\u003a", "http://x:1"])


def _string(text: str, escape: bool) -> str:  # noqa: FBT001 - drawn by Hypothesis
    written = json.dumps(text)
    return written.replace(":", "\\u003a") if escape else written


STRINGS = st.builds(_string, TEXTS, st.booleans())
MEMBER_NAMES = st.builds(_string, NAMES, st.booleans())


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in members) + "}"


DOCUMENTS = st.recursive(
    STRINGS | st.sampled_from(["1", "null", "1.5", "1e17", "123456789012345678901"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: "[" + ",".join(items) + "]")
        | st.lists(st.tuples(MEMBER_NAMES, inner), max_size=4).map(_object)
    ),
    max_leaves=12,
)


def _by_looking(document: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("duplicate")
        return dict(pairs)

    def bounded(literal: str) -> int:
        if abs(int(literal)) > MAX_INTEGER:
            raise ValueError("range")
        return int(literal)

    return json.loads(document, object_pairs_hook=unique, parse_int=bounded)


@given(DOCUMENTS)
@example('{"a": ":", "a": "\\u003a\\u003a"}')
@example('{"a": 1, "b": ":"}')
def test_agrees_with_a_reader_that_looks_at_every_name(document: str) -> None:
    """For documents full of colons, escapes and repeated names the answer is that of the slow reader."""
    try:
        expected = _by_looking(document)
    except ValueError:
        with pytest.raises(InvalidJson):
            loads(document.encode(), max_bytes=LIMIT)
    else:
        assert loads(document.encode(), max_bytes=LIMIT) == expected


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode(errors="surrogatepass")))
def test_no_bytes_raise_anything_else(document: bytes) -> None:
    """Whatever comes in, the answer is a value or `InvalidJson`."""
    with contextlib.suppress(InvalidJson):
        loads(document, max_bytes=LIMIT)
