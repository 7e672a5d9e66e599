"""`RateLimit-Policy` and `RateLimit`, as draft-ietf-httpapi-ratelimit-headers-11 (May 2026) writes them.

Both are lists of structured-field strings, each with parameters: `q` calls in `w` seconds; `r` left, `t` seconds until
there are more. Names are ours and need no escapes.
"""

from collections.abc import Sequence
from functools import lru_cache

from gateway.contract.envelope import Share


def rate_headers(shares: Sequence[Share]) -> list[tuple[bytes, bytes]]:
    """The two headers of an answer to a call that was counted."""
    policies: list[str] = []
    lefts: list[str] = []
    for it in shares:
        policies.append(_policy(it.name, it.quota, it.window_s))
        lefts.append(f'"{it.name}";r={it.left};t={it.reset_s}')
    return [(b"ratelimit-policy", ", ".join(policies).encode()), (b"ratelimit", ", ".join(lefts).encode())]


# The same from call to call.
@lru_cache(maxsize=4096)
def _policy(name: str, quota: int, window_s: int) -> str:
    return f'"{name}";q={quota};w={window_s}'
