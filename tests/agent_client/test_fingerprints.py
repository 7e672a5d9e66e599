"""Equal things have equal fingerprints, and nothing crashes them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_client.fingerprints import fingerprint, settled

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_T14_settling_is_idempotent_and_the_fingerprint_is_of_the_settled_form(value: Any) -> None:
    """Settled twice is settled once."""
    assert settled(settled(value)) == settled(value)
    assert fingerprint(value) == fingerprint(settled(value))


def test_T14_spellings_of_the_same_value_agree_and_different_values_do_not() -> None:
    """Numbers, order of members, accents; but not text and number."""
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2.0, "a": 1.0})
    assert fingerprint("é") == fingerprint("e\u0301")
    assert fingerprint("8472") != fingerprint(8472)
    assert fingerprint("8472") != fingerprint("08472")


def test_T14_what_is_not_json_has_one_too() -> None:
    """It is only for comparing."""
    assert fingerprint(float("nan")) == fingerprint(float("nan"))
    assert fingerprint({1: b"x"}) == fingerprint({1: b"x"})
    assert len(fingerprint("\ud800")) == 32
