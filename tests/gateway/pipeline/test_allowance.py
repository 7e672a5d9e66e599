"""What a call has used, before it has used anything."""

from gateway.pipeline.allowance import Allowance


def test_a_call_begins_with_nothing_used() -> None:
    """Neither counted nor charged, and nothing to tell."""
    fresh = Allowance()

    assert (fresh.taken, fresh.shares, fresh.purse) == ((), (), None)
