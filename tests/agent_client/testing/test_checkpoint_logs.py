"""The checks on logs are part of the suite, each with a sentence that says its promise."""

from agent_client.testing import CHECKPOINT_CHECKS
from agent_client.testing.checkpoint_logs import LOG_CHECKS


def test_every_check_is_run_and_says_what_it_promises() -> None:
    """What is in the module but not in the suite would prove nothing."""
    assert set(LOG_CHECKS) <= set(CHECKPOINT_CHECKS)
    assert len(LOG_CHECKS) == 14
    assert all(check.__doc__ for check in LOG_CHECKS)
