"""What a peer's TLS said at the end."""

import ssl

import pytest

from gateway.adapters.http_tool.tls_alerts import is_client_refused


@pytest.mark.parametrize(
    ("reason", "refused"),
    [("TLSV13_ALERT_CERTIFICATE_REQUIRED", True), ("TLSV1_ALERT_UNKNOWN_CA", True), ("WRONG_VERSION_NUMBER", False)],
)
def test_an_alert_about_our_certificate_is_told_from_others(reason: str, *, refused: bool) -> None:
    """By the reason that OpenSSL gives."""
    error = ssl.SSLError(1, f"[SSL: {reason}]")
    error.reason = reason
    assert is_client_refused(error) is refused


def test_what_is_no_word_of_tls_says_nothing() -> None:
    """A reset may come for any reason."""
    assert not is_client_refused(ConnectionResetError())
