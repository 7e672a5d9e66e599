"""One small JSON document over HTTPS: bounded in time and size, without redirects, proxies, cookies or decompression."""

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any, Final

import httpx

MOST_BYTES: Final = 262_144


class FetchError(Exception):
    """There is no document. One sentence; it repeats nothing of what the server said."""


def trust(ca_file: Path | None) -> ssl.SSLContext:
    """Whose certificates are believed: those of `ca_file`, else those of the system.

    Raises:
        OSError: the file cannot be read, or holds no certificate (ssl.SSLError).
    """
    return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))


async def fetch(url: str, context: ssl.SSLContext, timeout_s: float) -> Any:
    """The document at `url`, within `timeout_s` in all.

    Raises:
        FetchError: it is not there, not in time, too large, or not JSON.
    """
    try:
        async with asyncio.timeout(timeout_s):
            body = await _body(url, context, timeout_s)
    except TimeoutError:
        raise FetchError(f"{url} did not answer within {timeout_s:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as failed:
        raise FetchError(f"{url} could not be read ({type(failed).__name__})") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise FetchError(f"{url} is not JSON") from None


async def _body(url: str, context: ssl.SSLContext, timeout_s: float) -> bytes:
    # A client of its own: what a cancelled request leaves behind in a pool goes with it.
    async with (
        httpx.AsyncClient(verify=context, trust_env=False, follow_redirects=False, timeout=timeout_s) as client,
        client.stream("GET", url, headers={"Accept": "application/json", "Accept-Encoding": "identity"}) as response,
    ):
        if response.status_code != 200:
            raise FetchError(f"{url} answered with status {response.status_code}")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise FetchError(f"{url} answered compressed, which was not asked for")
        body = b""
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MOST_BYTES:
                raise FetchError(f"{url} is larger than {MOST_BYTES} bytes")
        return body
