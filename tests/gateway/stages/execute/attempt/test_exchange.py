"""The words of one exchange."""

from gateway.stages.execute.attempt.exchange import Exchange, Phase, WireRequest


def test_phases_are_ordered_by_how_far_the_attempt_came() -> None:
    """Comparing with SENT decides whether bytes may have left."""
    assert Phase.NONE < Phase.CONNECTING < Phase.CONNECTED < Phase.SENT < Phase.HEADERS < Phase.BODY < Phase.COMPLETE


def test_secrets_show_in_no_representation() -> None:
    """A request may be printed; its injected headers may not."""
    request = WireRequest(
        method="POST",
        origin="https://pay.example:443",
        target="/x",
        secret_headers=(("authorization", "Bearer swordfish"),),
    )

    assert "swordfish" not in repr(request)


def test_a_cause_shows_in_no_representation() -> None:
    """What was raised may quote anything, so only code that asks for it sees it."""
    assert "swordfish" not in repr(Exchange(phase=Phase.CONNECTED, cause=ValueError("swordfish")))
