"""What a silence proves."""

from agent_client.gateway_client.heard import SILENCES, Silence


def test_only_a_missing_connection_proves_that_nothing_was_sent() -> None:
    """Every silence has its facts; all that come after sending began prove nothing."""
    assert SILENCES.keys() == set(Silence)
    assert {silence for silence, known in SILENCES.items() if known.never_sent} == {
        Silence.NO_CONNECTION,
        Silence.CONNECT_TIMEOUT,
    }
