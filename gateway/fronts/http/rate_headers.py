"""`RateLimit-Policy` and `RateLimit`, as draft-ietf-httpapi-ratelimit-headers-11 (May 2026) writes them.

Both are lists of structured-field strings, each with parameters: `q` calls in `w` seconds; `r` left, `t` seconds until
there are more. Names are ours and need no escapes.
"""

from collections.abc import Sequence

from gateway.contract.envelope import Share


def rate_headers(shares: Sequence[Share]) -> list[tuple[bytes, bytes]]:
    """The two headers of an answer to a call that was counted."""
    policy = ", ".join(f'"{it.name}";q={it.quota};w={it.window_s}' for it in shares)
    left = ", ".join(f'"{it.name}";r={it.left};t={it.reset_s}' for it in shares)
    return [(b"ratelimit-policy", policy.encode("ascii")), (b"ratelimit", left.encode("ascii"))]
