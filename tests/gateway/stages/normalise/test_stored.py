"""A stored answer comes back as it was, to whoever asks."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.canonical import MAX_INTEGER
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from gateway.stages.normalise.stored import replay_answer, store_answer, stored_identifier

FIRST = Meta(
    request_id="req-1",
    run_id="run-1",
    attempts=2,
    elapsed_ms=900,
    fetched_at="2026-10-28T09:14:02Z",
    source="payments",
    truncated="Only a is shown; other members were left out.",
    warnings=("first",),
)
SECOND = Meta(request_id="req-2", run_id="run-2", elapsed_ms=1, warnings=("second",))

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)


@given(VALUES)
def test_data_is_replayed_byte_for_byte(data: Any) -> None:
    """The first answer and its replay are written with the same bytes, falsy data included."""
    first = succeed(data, FIRST)

    replay = replay_answer(store_answer(first), SECOND)

    assert orjson.dumps(replay.data) == orjson.dumps(first.data)
    assert replay.ok


def test_a_replay_says_that_it_is_one_and_what_belongs_to_whom() -> None:
    """What the answer is comes from the first call; who asked, and how long it took, from this one."""
    meta = replay_answer(store_answer(succeed(1, FIRST)), SECOND).meta

    assert (meta.replayed, meta.recorded) == (True, True)
    assert (meta.request_id, meta.run_id, meta.elapsed_ms, meta.attempts) == ("req-2", "run-2", 1, 0)
    assert (meta.fetched_at, meta.source, meta.truncated) == (FIRST.fetched_at, FIRST.source, FIRST.truncated)
    assert meta.warnings == ("first", "second")


def test_a_refusal_is_replayed_with_its_message() -> None:
    """The stored refusal is given again, word for word."""
    first = fail(ErrorCode.DECLINED, FIRST, message="declined (HTTP 402)", details={"status": 402})

    replay = replay_answer(store_answer(first), SECOND)

    assert replay.error == first.error
    assert replay.meta.replayed


@pytest.mark.parametrize("stored", [b"{}", b"[]", b"1", b"nonsense"])
def test_other_bytes_are_refused(stored: bytes) -> None:
    """A record that somebody else wrote is not given out as an answer."""
    with pytest.raises(ValueError, match="not a stored answer"):
        replay_answer(stored, SECOND)


@pytest.mark.parametrize("identifier", ["re_1", 7, None])
def test_the_identifier_is_kept_and_not_shown(identifier: str | int | None) -> None:
    """Look-ups of other operations ask for it; an answer stored without one has none."""
    stored = store_answer(succeed(1, FIRST), identifier)

    assert stored_identifier(stored) == identifier
    assert replay_answer(stored, SECOND) == replay_answer(store_answer(succeed(1, FIRST)), SECOND)
    assert stored_identifier(b"{}") is None
    assert stored_identifier(None) is None
