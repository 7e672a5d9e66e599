"""Every form of Retry-After, and everything that is none."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.stages.execute.attempt.retry_after import LONGEST_S, parse_retry_after

WALL = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("007", 7.0),
        ("604801", LONGEST_S),
        ("9999999999", LONGEST_S),
        ("9" * 512, LONGEST_S),
        ("0" * 400 + "5", 5.0),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sunday, 29-Nov-26 12:01:00 GMT", 60.0),
        ("Sun Nov 29 12:00:05 2026", 5.0),
        ("Tue Dec  1 12:00:00 2026", 172_800.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("Fri, 01 Jan 9999 00:00:00 GMT", LONGEST_S),
        ("Sun, 29 Nov 2026 12:00:60 GMT", 60.0),
    ],
)
def test_every_form_is_read_as_seconds_from_now(value: str, expected: float) -> None:
    """Delta seconds and the three date forms; what has passed is 0, what is far is the longest wait."""
    assert parse_retry_after(value, wall=WALL) == expected


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "soon",
        "-1",
        "+1",
        "1.5",
        "1e9",
        "0x10",
        "١٢",  # digits to `str.isdigit`, not to HTTP
        "12 s",
        "9" * 513,
        "Sun, 31 Feb 2026 12:00:00 GMT",
        "Sun, 00 Nov 2026 12:00:00 GMT",
        "Sun, 29 Nix 2026 12:00:00 GMT",
        "Sun, 29 Nov 2026 24:00:00 GMT",
        "Sun, 29 Nov 2026 12:00:00 UTC",
        "Sun, 29 Nov 1969 12:00:00 GMT",
        "2026-11-29T12:00:00Z",
    ],
)
def test_garbage_is_ignored(value: str | None) -> None:
    """What is no Retry-After is as if it had not been sent."""
    assert parse_retry_after(value, wall=WALL) is None


def test_two_digit_years_lie_at_most_fifty_years_ahead() -> None:
    """A year that would be further ahead was meant in the last century."""
    assert parse_retry_after("Sunday, 29-Nov-76 12:00:00 GMT", wall=WALL) == LONGEST_S
    assert parse_retry_after("Sunday, 29-Nov-77 12:00:00 GMT", wall=WALL) == 0.0


@given(st.integers(0, 600_000))
def test_a_date_says_what_its_seconds_say(seconds: int) -> None:
    """The date form and the delta form of one moment agree."""
    date = format_datetime(datetime.fromtimestamp(WALL + seconds, tz=UTC), usegmt=True)

    assert parse_retry_after(date, wall=WALL) == parse_retry_after(str(seconds), wall=WALL)


@given(st.text(max_size=60), st.floats(0, 4e9))
def test_nothing_a_peer_writes_raises(value: str, wall: float) -> None:
    """Any text gives None or a wait within the bound."""
    found = parse_retry_after(value, wall=wall)

    assert found is None or 0.0 <= found <= LONGEST_S
