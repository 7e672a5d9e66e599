"""How an exchange is going."""

from gateway.adapters.http_tool.progress import Failed, Trail
from gateway.stages.execute.attempt.exchange import Fault, Phase


def test_a_trail_begins_with_nothing_done() -> None:
    """NONE, on no connection."""
    assert Trail() == Trail(phase=Phase.NONE, reused=False)


def test_a_failure_says_what_and_why() -> None:
    """For a traceback; the exchange takes the parts."""
    failed = Failed(Fault.DNS_FAILED, "the name does not resolve", cause := OSError())

    assert str(failed) == "dns_failed: the name does not resolve"
    assert (failed.fault, failed.detail, failed.cause) == (Fault.DNS_FAILED, "the name does not resolve", cause)
