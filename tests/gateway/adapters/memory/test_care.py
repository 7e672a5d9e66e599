"""Who cares for which record of the store of tests. The conformance suite holds it to the same as the others."""

from gateway.adapters.memory.care import Care
from gateway.stages.execute.operation.record import Record, State
from tests.conformance.moves import history

NOW = 1_000.0


def unknown(name: str) -> Record:
    """A record in doubt."""
    return history(name, State.UNKNOWN, NOW)[-1]


def test_who_is_due_longest_comes_first() -> None:
    """Those that are in doubt at once, those of an owner when its lease ends; no more than are asked for."""
    care = Care()
    owned = history("owned", State.SENT, NOW)[-1]
    care.follow(owned, None, NOW)
    care.follow(unknown("b"), None, NOW + 2)
    care.follow(unknown("a"), None, NOW + 1)

    assert care.due(NOW, 9) == ()
    assert care.due(NOW + 3, 9) == (unknown("a").key, unknown("b").key)
    assert care.due(NOW + 3, 1) == (unknown("a").key,)
    assert owned.key in care.due(owned.lease_until, 9)


def test_a_lease_keeps_others_away_until_it_ends() -> None:
    """Whoever has it may have it again."""
    care, key = Care(), unknown("a").key
    care.follow(unknown("a"), None, NOW)
    care.lease(key, "mine", NOW + 5)

    assert care.due(NOW + 4, 9) == ()
    assert (care.is_free(key, "mine", NOW), care.is_free(key, "other", NOW)) == (True, False)
    assert care.is_free(key, "other", NOW + 5)
    assert care.due(NOW + 5, 9) == (key,)


def test_what_is_given_back_in_doubt_is_due_again() -> None:
    """Only its holder gives it back; what is settled is due no more."""
    care, record = Care(), unknown("a")
    care.follow(record, None, NOW)
    care.lease(record.key, "mine", NOW + 5)
    care.release(record, "other", NOW + 1)
    assert care.due(NOW + 4, 9) == ()
    care.release(record, "mine", NOW + 3)
    assert (care.due(NOW + 2, 9), care.due(NOW + 3, 9)) == ((), (record.key,))
    care.follow(history("a", State.DONE, NOW)[-1], record, NOW)
    assert care.due(NOW + 99, 9) == ()
