"""Each claim of a manifest is provoked; a false one is found and named."""

from typing import Any

import pytest

from gateway.cli.certifying.findings import Verdict
from gateway.cli.certifying.orders import Order
from tests.gateway.cli.certifying.bank import Habits, opened
from tests.gateway.cli.certifying.runs import ORDER, certified, named
from tests.gateway.manifest.sample import REMOVED

KEY, LOOKUP = "downstream_key", "reconcile.lookup"


async def test_a_provider_that_keeps_its_contract_is_certified() -> None:
    """Every claim was provoked and held."""
    with opened(Habits()) as bank:
        certificate = await certified(bank)

        assert named(certificate, Verdict.FALSE) == []
        assert named(certificate, Verdict.UNCHECKED) == []
        assert named(certificate, Verdict.SHOWN) == [
            LOOKUP,
            "result",
            KEY,
            f"{KEY}.replay_marker",
            f"{KEY}.mismatch_status",
            f"{KEY}.in_progress_status",
            f"{KEY}.caches",
            f"{KEY}.window",
        ]
        # One for each key that was not refused, however often it was sent.
        assert len(bank.effects) == 2
        assert certificate.acts == bank.requests == 8


@pytest.mark.parametrize(
    ("habits", "false"),
    [
        (
            {"keeps_answers": False},
            [f"{KEY}.replay_marker", KEY, f"{KEY}.mismatch_status", f"{KEY}.caches", f"{KEY}.window"],
        ),
        ({"same_answer": False}, [KEY, f"{KEY}.window"]),
        ({"marks": False}, [f"{KEY}.replay_marker"]),
        ({"mismatch": 400}, [f"{KEY}.mismatch_status", f"{KEY}.caches"]),
        ({"in_progress": 425}, [f"{KEY}.in_progress_status"]),
        ({"keeps_refusals": False}, [f"{KEY}.caches"]),
        ({"keeps_last": 3}, [f"{KEY}.window"]),
        ({"lists": "cut"}, [f"{LOOKUP}.complete_when"]),
        ({"lists": "away"}, [LOOKUP]),
        ({"lists": "empty"}, [LOOKUP, KEY, f"{KEY}.mismatch_status"]),
        ({"lists": "bare"}, [LOOKUP]),
        ({"lists_double": True}, [LOOKUP, KEY, f"{KEY}.mismatch_status"]),
        ({"result": {"stat": "done"}}, ["result"]),
    ],
)
async def test_a_false_claim_is_found_and_named(habits: dict[str, Any], false: list[str]) -> None:
    """By the field that makes it, and no other."""
    with opened(Habits(**habits)) as bank:
        assert named(await certified(bank), Verdict.FALSE) == false


@pytest.mark.parametrize(
    ("match", "false"),
    [
        ("item.n == args.n && !(item.id in baseline)", []),
        ("item.id in baseline || item.key == key", [f"{LOOKUP}.match"]),
    ],
)
async def test_a_match_must_not_take_what_was_there_before(match: str, false: list[str]) -> None:
    """What an unused key finds was done by somebody else; what is only new is compared with the baseline."""
    apart = {"holds": {"n": "n"}}
    with opened(Habits(lists="always")) as bank:
        found = named(await certified(bank, {f"{LOOKUP}.match": match, **apart}), Verdict.FALSE)

    assert found[:1] == false


async def test_what_shows_late_is_waited_for() -> None:
    """Until a negative would count, and not longer."""
    with opened(Habits(shows_after=9)) as bank:
        late = await certified(bank)
    with opened(Habits(shows_after=10_000)) as bank:
        never = await certified(bank)

    assert LOOKUP not in named(late, Verdict.FALSE)
    assert LOOKUP in named(never, Verdict.FALSE)


async def test_two_that_are_answered_alike_show_one_effect_and_no_status() -> None:
    """A provider may let the second wait; then its status for a running request was not seen."""
    with opened(Habits(waits=True)) as bank:
        certificate = await certified(bank)

    assert named(certificate, Verdict.FALSE) == []
    assert named(certificate, Verdict.UNCHECKED) == [f"{KEY}.in_progress_status"]


async def test_what_cannot_be_provoked_is_said() -> None:
    """With what it would take; it is never taken for shown."""
    order = Order(arguments=ORDER.arguments, patience_s=1)
    with opened(Habits()) as bank:
        certificate = await certified(bank, {"backend.http.statuses": {"503": "refused"}}, order)
        seen = {finding.field: finding.seen for finding in certificate.of(Verdict.UNCHECKED)}

    assert seen == {
        f"{KEY}.mismatch_status": "no other body is known; give one with --other",
        f"{KEY}.caches": "no refusal was provoked; give arguments for one with --refused",
        f"{KEY}.window": "it was not waited for; --patience says how long to",
        "backend.http.statuses.503": "no such answer came",
    }


async def test_refusals_are_no_claim_where_only_what_was_done_is_kept() -> None:
    """`caches: success` says nothing about them."""
    with opened(Habits(keeps_refusals=False)) as bank:
        certificate = await certified(bank, {f"{KEY}.caches": "success"})

    assert named(certificate, Verdict.FALSE) == []


async def test_effects_are_not_counted_without_a_look_up() -> None:
    """Equal answers are no proof that it acted once."""
    with opened(Habits()) as bank:
        certificate = await certified(bank, {"reconcile": REMOVED})
        unchecked = {finding.says for finding in certificate.of(Verdict.UNCHECKED)}

    assert "the same key has one effect" in unchecked
    assert named(certificate, Verdict.FALSE) == []


@pytest.mark.parametrize(
    ("repeated", "already_done", "verdict"),
    [(200, [], Verdict.SHOWN), (404, [404], Verdict.SHOWN), (404, [], Verdict.FALSE)],
)
async def test_an_idempotent_tool_is_done_again(repeated: int, already_done: list[int], verdict: Verdict) -> None:
    """Its second answer is a success, or one that `already_done` names."""
    changes = {
        "effect": "idempotent",
        "downstream_key": REMOVED,
        "reconcile": REMOVED,
        "backend.http.already_done": already_done,
    }
    with opened(Habits(keeps_answers=False, repeated=repeated)) as bank:
        certificate = await certified(bank, changes)

    assert [finding.verdict for finding in certificate.findings if finding.field == "effect"] == [verdict]


@pytest.mark.parametrize(
    ("habits", "words", "unknown"),
    [
        ({"status": 400}, "the first request was answered 400: give arguments", False),
        ({"status": 503}, "the first request was answered 503, which proves nothing", True),
        ({"hangs_up": True}, "the first request got no answer", True),
    ],
)
async def test_what_does_not_begin_is_interrupted(habits: dict[str, Any], words: str, unknown: bool) -> None:  # noqa: FBT001 - a column
    """Nothing is said of what was not provoked, and an unknown outcome is called so."""
    with opened(Habits(**habits)) as bank:
        certificate = await certified(bank)

    assert words in (certificate.interrupted or "")
    assert certificate.unknown is unknown
    assert certificate.acts == 1


async def test_a_provider_that_is_away_is_sent_nothing() -> None:
    """That is no unknown outcome."""
    with opened(Habits()) as bank:
        pass
    certificate = await certified(bank)

    assert "could not be sent" in (certificate.interrupted or "")
    assert not certificate.unknown
