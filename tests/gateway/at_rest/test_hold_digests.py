"""Digests of holds: which are equal, and how long they are remembered."""

import gc
import weakref

from gateway.at_rest.hold_digests import HoldDigests
from gateway.stages.execute.operation.record import Hold

ONE = Hold("t", "a", "b")


def test_equal_holds_have_equal_digests() -> None:
    """Tenant, name and value are told apart, also where their texts run together; another file's secret gives others."""
    holds = [ONE, Hold("ta", "", "b"), Hold("t", "ab", ""), Hold("t", "a", "c"), Hold("u", "a", "b")]
    digests = HoldDigests(b"secret")

    told = {digests.of(hold) for hold in holds}

    assert len(told) == len(holds)
    assert digests.of(Hold("t", "a", "b")) == HoldDigests(b"secret").of(ONE)
    assert HoldDigests(b"another").of(ONE) not in told


def test_a_digest_that_is_asked_for_again_is_remembered() -> None:
    """It is the same object, not made anew."""
    digests = HoldDigests(b"secret")

    assert digests.of(Hold("t", "a", "b")) is digests.of(ONE)


class Text(str):
    """A string whose end can be seen."""

    __slots__ = ("__weakref__",)


def test_what_is_remembered_goes_with_its_store() -> None:
    """Neither the values nor the secret outlive who asked."""
    digests = HoldDigests(b"secret")
    value = Text("4111 1111")
    digests.of(Hold("t", "a", value))
    left = weakref.ref(value)
    del value
    assert left() is not None

    del digests
    gc.collect()
    assert left() is None


def test_nothing_of_it_is_shown() -> None:
    """Its repr tells neither secret nor value."""
    digests = HoldDigests(b"secret")
    digests.of(Hold("t", "a", "4111 1111"))

    assert "secret" not in repr(digests)
    assert "4111" not in repr(digests)
