"""What the peer's TLS says before it ends a connection."""

import ssl
from typing import Final

_CLIENT_REFUSED: Final = frozenset(
    {
        "TLSV13_ALERT_CERTIFICATE_REQUIRED",
        "SSLV3_ALERT_BAD_CERTIFICATE",
        "SSLV3_ALERT_HANDSHAKE_FAILURE",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
        "SSLV3_ALERT_CERTIFICATE_EXPIRED",
        "SSLV3_ALERT_CERTIFICATE_REVOKED",
        "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
        "TLSV1_ALERT_UNKNOWN_CA",
        "TLSV1_ALERT_ACCESS_DENIED",
    }
)


def is_client_refused(error: BaseException) -> bool:
    """Whether the peer ended it because of our certificate, or the lack of one."""
    return isinstance(error, ssl.SSLError) and error.reason in _CLIENT_REFUSED
