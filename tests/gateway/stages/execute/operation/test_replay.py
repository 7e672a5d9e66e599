"""When the same bytes may go out again, and which answers to them speak for the whole operation."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation.record import Attempt, Bodies, Knowledge, Record, State
from gateway.stages.execute.operation.replay import Refusal, ReplayTerms, is_authoritative, refusal
from tests.gateway.stages.execute.operation.records import HORIZON_S, NOW, ORIGIN, SEND_BY, WALL, record, tried

_UNKNOWN = Knowledge.UNKNOWN
TERMS = ReplayTerms(window_s=3600.0, caches_all=True, send_within_s=30.0, horizon_s=150.0, background_s=None)
LAST = WALL + TERMS.window_s - TERMS.send_within_s - TERMS.horizon_s
"""From here on the key might be forgotten before the replay ends."""
OVER = SEND_BY + HORIZON_S


def in_doubt(*statuses: int | None, state: State = State.UNKNOWN) -> Record:
    """An operation under a key, with an unknown attempt for each status received (None: none)."""
    attempts = tried(*(_UNKNOWN for _ in statuses), one_effect=True)
    return record(state, tuple(replace(a, status=s) for a, s in zip(attempts, statuses, strict=True)))


@pytest.mark.parametrize("state", State)
def test_only_what_is_in_doubt_is_replayed(state: State) -> None:
    """Everything else is settled, or needs a claim by a new live call."""
    open_states = {State.SENT, State.LISTENING, State.UNKNOWN}

    assert refusal(in_doubt(None, state=state), TERMS, wall=WALL) is (
        None if state in open_states else Refusal.NOT_OPEN
    )


def test_without_a_downstream_key_nothing_is_replayed() -> None:
    """Neither by the manifest of the record nor by the terms of today."""
    plain = replace(in_doubt(None), origin=replace(ORIGIN, keyed=False))

    assert refusal(plain, TERMS, wall=WALL) is Refusal.NOT_KEYED
    assert refusal(in_doubt(None), None, wall=WALL) is Refusal.NOT_KEYED


def test_only_stored_bytes_are_replayed() -> None:
    """Without them, or without a first send, there is nothing to send again."""
    assert refusal(replace(in_doubt(None), bodies=Bodies()), TERMS, wall=WALL) is Refusal.NOTHING_STORED
    assert refusal(replace(in_doubt(None), attempts=()), TERMS, wall=WALL) is Refusal.NOTHING_STORED


def test_a_replay_ends_before_the_providers_window_does() -> None:
    """Just inside the margin it goes out; where its end and the window's are one moment, it does not."""
    assert refusal(in_doubt(None), TERMS, wall=LAST - 0.001) is None
    assert refusal(in_doubt(None), TERMS, wall=LAST) is Refusal.NEAR_WINDOW_END


@pytest.mark.parametrize(
    "terms",
    [replace(TERMS, window_s=3599.0), replace(TERMS, send_within_s=31.0), replace(TERMS, horizon_s=151.0)],
)
def test_every_part_of_the_margin_counts(terms: ReplayTerms) -> None:
    """A shorter window, a later send or a slower provider each refuse what was just allowed."""
    assert refusal(in_doubt(None), terms, wall=LAST - 0.5) is Refusal.NEAR_WINDOW_END


def test_the_window_counts_from_the_first_send() -> None:
    """A second send a second later does not prolong it."""
    assert refusal(in_doubt(None, None), TERMS, wall=LAST) is Refusal.NEAR_WINDOW_END


def test_in_the_background_only_for_a_while() -> None:
    """Within `replay_for` of the first send, its end included; a live call is not bound by it."""
    terms = replace(TERMS, background_s=60.0)

    assert refusal(in_doubt(None), terms, wall=WALL + 60.0) is None
    assert refusal(in_doubt(None), terms, wall=WALL + 60.001) is Refusal.PAST_BACKGROUND_TIME
    assert refusal(in_doubt(None), TERMS, wall=WALL + 60.001) is None


def test_a_wall_clock_that_stepped_back_stops_replays() -> None:
    """The provider's window cannot be judged by it."""
    assert refusal(in_doubt(None), replace(TERMS, clock_is_sound=False), wall=WALL) is Refusal.CLOCK_STEPPED_BACK


@pytest.mark.parametrize("statuses", [(500,), (None, 502), (500, None)])
def test_a_received_status_is_not_replayed_where_only_successes_are_kept(statuses: tuple[int | None, ...]) -> None:
    """A 500 that was not kept may have come after the effect: the same key would act again. Look-ups only."""
    success = replace(TERMS, caches_all=False)

    assert refusal(in_doubt(*statuses), success, wall=WALL) is Refusal.STATUS_NOT_CACHED
    assert refusal(in_doubt(*statuses), TERMS, wall=WALL) is None
    assert refusal(in_doubt(None, None), success, wall=WALL) is None


def test_the_status_of_a_proved_attempt_forbids_nothing() -> None:
    """A refusal did not act; only what is unknown may have."""
    one, two = tried(Knowledge.REFUSED, _UNKNOWN, one_effect=True)
    it = record(State.UNKNOWN, (replace(one, status=429), two))

    assert refusal(it, replace(TERMS, caches_all=False), wall=WALL) is None


def test_every_refusal_says_why() -> None:
    """Operators read it."""
    assert all(len(why.value) > 20 for why in Refusal)


def authoritative(
    status: int,
    *others: Attempt,
    marked: bool = True,
    now: float = OVER,
    number: int | None = None,
    one_effect: bool = True,
) -> bool:
    """Whether this answer to the attempt after `others` counts for all."""
    earlier = others or tried(_UNKNOWN, one_effect=True)
    last = replace(tried(_UNKNOWN)[0], number=len(earlier) + 1, one_effect=one_effect)
    it = record(State.SENT, (*earlier, last))
    return is_authoritative(it, number or last.number, status, marked=marked, now=now)


@pytest.mark.parametrize("status", [400, 402, 404, 410, 412, 422, 451, 499])
def test_a_refusal_counts_only_with_the_replay_marker(status: int) -> None:
    """Without it a 4xx may come from before the key table, however long ago the first attempt was."""
    assert authoritative(status)
    assert not authoritative(status, marked=False)


@pytest.mark.parametrize("status", [200, 301, 304, 399, 401, 403, 407, 408, 409, 423, 425, 429, 500, 503, 599])
def test_what_is_said_beside_the_key_table_never_counts(status: int) -> None:
    """Credentials, conflicts, limits, redirects and failures say nothing of what the key did before, marked or not."""
    assert not authoritative(status)


def test_a_marked_answer_counts_at_once() -> None:
    """It is what the key keeps, and an attempt still under way gets the same; one beside the key does not."""
    assert authoritative(422, now=NOW)
    assert not authoritative(422, *tried(_UNKNOWN, one_effect=False), now=NOW)
    assert authoritative(422, *tried(_UNKNOWN, one_effect=False), now=OVER)


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        (Knowledge.NOT_SENT, True),
        (Knowledge.REFUSED, True),
        (Knowledge.UNKNOWN, False),
        (Knowledge.VOID, False),
    ],
)
def test_a_proved_attempt_cannot_act_any_more(known: Knowledge, *, counts: bool) -> None:
    """A proof ends the time of an attempt beside the key early; a look-up's negative does not."""
    assert authoritative(422, *tried(known, one_effect=False), now=NOW) is counts


def test_one_attempt_that_can_act_is_enough() -> None:
    """All others must be over."""
    assert not authoritative(422, *tried(Knowledge.REFUSED, _UNKNOWN, Knowledge.REFUSED, one_effect=False), now=NOW)


def test_no_answer_overrides_a_later_attempt() -> None:
    """Only the last one's may count."""
    earlier = tried(Knowledge.REFUSED, _UNKNOWN, one_effect=True)

    assert not authoritative(422, *earlier, number=2)


def test_the_first_send_is_no_replay() -> None:
    """Its refusal is its own."""
    it = record(State.SENT, tried(_UNKNOWN, one_effect=True))

    assert not is_authoritative(it, 1, 422, marked=True, now=OVER)


def test_a_send_outside_the_key_speaks_for_itself() -> None:
    """Another key, or none, knows nothing of the first."""
    assert not authoritative(422, one_effect=False)


def test_nothing_is_replayed_that_is_not_approved_any_more() -> None:
    """A replay is a send: the approval that the first one went out with must still stand."""
    approved = replace(in_doubt(None), approval_id="ap-1", approved_until=WALL + 10)
    assert refusal(approved, TERMS, wall=WALL + 9.9) is None
    assert refusal(approved, TERMS, wall=WALL + 10) is Refusal.APPROVAL_LAPSED
