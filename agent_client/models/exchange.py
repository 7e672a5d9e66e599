"""One request to a model's provider over HTTP: bounded, never repeated, and its trouble told in the loop's words."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from agent_client.inference import ModelTrouble

# The provider's own failures, and "not now". Everything else would fail again in the same way.
_MAY_PASS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_HINT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBounds:
    """How much of an inference is waited for, and read.

    Attributes:
        connect_s: for a connection.
        answer_s: for the whole answer, where the request gave no shorter time.
        answer_bytes: the largest answer that is read.
    """

    connect_s: float = 10.0
    answer_s: float = 120.0
    answer_bytes: int = 8 * 1024 * 1024


class Provider:
    """Where inferences are asked for, and with what key. The key is in no repr, message or log line."""

    def __init__(
        self, base_url: str, headers: Mapping[str, str], bounds: ModelBounds, *, proxy: str | None = None
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("base_url is http:// or https://, a host, and a path")
        if parts.username or parts.password:
            raise ValueError("base_url must hold no credential")
        for value in headers.values():
            if not value.isascii() or not value.isprintable():
                raise ValueError("the key, and every other header, must be printable ASCII characters")
        self.base_url = base_url.rstrip("/")
        self._headers = dict(headers)
        self._bounds = bounds
        self._proxy = proxy
        self._client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    def __repr__(self) -> str:
        return f"<Provider {self.base_url}>"

    async def aclose(self) -> None:
        """Close the connections that are open."""
        if self._client is not None:
            _, client = self._client
            self._client = None
            await client.aclose()

    async def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float | None) -> Any:
        """The provider's answer, JSON data.

        Raises:
            ModelTrouble: there is none that can be used.
        """
        patience = self._bounds.answer_s if timeout_s is None else min(timeout_s, self._bounds.answer_s)
        # A lone surrogate that a tool sent would make the whole conversation unsendable: it travels as an escape.
        content = json.dumps(body, separators=(",", ":")).encode()
        client = self._open()
        try:
            async with asyncio.timeout(patience):
                status, retry_after_s, answer = await self._exchange(client, path, content, patience)
        except (TimeoutError, httpx.TimeoutException):
            raise ModelTrouble("the model did not answer in time", retryable=True) from None
        except (httpx.TransportError, httpx.StreamError) as failure:
            told = f"the connection to the model's provider failed: {type(failure).__name__}"
            raise ModelTrouble(told, retryable=True) from None
        if status != httpx.codes.OK:
            told = f"the model's provider answered with status {status}{_hint(answer)}"
            raise ModelTrouble(told, retryable=status in _MAY_PASS, retry_after_s=retry_after_s)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            raise ModelTrouble("the model's provider sent something that is not JSON", retryable=True) from None

    async def _exchange(
        self, client: httpx.AsyncClient, path: str, content: bytes, patience: float
    ) -> tuple[int, float | None, bytes]:
        timeout = httpx.Timeout(patience, connect=min(self._bounds.connect_s, patience))
        request = client.build_request("POST", self.base_url + path, content=content, timeout=timeout)
        response = await client.send(request, stream=True)
        try:
            got = bytearray()
            async for chunk in response.aiter_raw():
                got += chunk
                if len(got) > self._bounds.answer_bytes:
                    raise ModelTrouble("the model's answer is larger than is read", retryable=False)
            return response.status_code, retry_after(response.headers), bytes(got)
        finally:
            await response.aclose()

    def _open(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            headers = {
                **self._headers,
                "Content-Type": "application/json",
                "Accept": "application/json",
                # What unpacks itself has no size that could be bounded before it is read.
                "Accept-Encoding": "identity",
                "User-Agent": "oncegate-agent-client",
            }
            client = httpx.AsyncClient(headers=headers, follow_redirects=False, trust_env=False, proxy=self._proxy)
            self._client = (loop, client)
        return self._client[1]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a provider asks to wait. `retry-after-ms` is the finer word of some; a date is no number of seconds."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 12:
            return float(text) * unit
    return None


def _hint(answer: bytes) -> str:
    """The provider's own type of error, which is a word; never its message, which may quote the conversation."""
    try:
        document = json.loads(answer)
        word = document["error"].get("type") or document["error"].get("code")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    plain = isinstance(word, str) and word.isascii() and word.replace("_", "").isalnum() and len(word) < _MAX_HINT
    return f" ({word})" if plain else ""
