"""Names to addresses, once, with a short memory, and one question at a time for each name."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Final

from gateway.adapters.http_tool.egress import Address, unmapped
from gateway.adapters.http_tool.progress import Failed
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Fault

REMEMBER_S: Final = 10.0
_MOST_NAMES: Final = 1024

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""A name to addresses as text, best first. Raises OSError or UnicodeError when there is none."""


async def system_lookup(host: str) -> Sequence[str]:
    """Ask the system's resolver, in a thread."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for _, _, _, _, address in found]


class Resolver:
    """Remembers answers for `REMEMBER_S` seconds and failures not at all."""

    def __init__(self, clock: Clock, lookup: Lookup = system_lookup) -> None:
        self._clock = clock
        self._lookup = lookup
        self._known: dict[str, tuple[float, tuple[Address, ...]]] = {}
        self._asking: dict[str, asyncio.Task[tuple[Address, ...]]] = {}

    async def resolve(self, host: str) -> tuple[Address, ...]:
        """The addresses of `host`, families taking turns. Cancelling the wait does not stop the question.

        Raises:
            Failed: DNS_FAILED; ABORTED by `aclose`.
        """
        try:
            return (unmapped(ip_address(host)),)
        except ValueError:
            pass
        known = self._known.get(host)
        if known is not None and known[0] > self._clock.monotonic():
            return known[1]
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = asyncio.get_running_loop().create_task(self._ask(host))
            task.add_done_callback(partial(self._asked, host))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and caller is not None and not caller.cancelling():
                raise Failed(Fault.ABORTED, "the transport was closed") from None
            raise

    async def aclose(self) -> None:
        """Ask nothing more."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, host: str) -> tuple[Address, ...]:
        try:
            texts = await self._lookup(host)
            addresses = tuple(dict.fromkeys(unmapped(ip_address(text)) for text in texts))
        except (OSError, ValueError) as error:  # UnicodeError, for a label of 64 characters, is a ValueError
            raise Failed(Fault.DNS_FAILED, "the name does not resolve", error) from error
        if not addresses:
            raise Failed(Fault.DNS_FAILED, "the name has no address")
        if len(self._known) >= _MOST_NAMES:
            self._known.clear()
        ordered = _taking_turns(addresses)
        self._known[host] = (self._clock.monotonic() + REMEMBER_S, ordered)
        return ordered

    def _asked(self, host: str, task: asyncio.Task[tuple[Address, ...]]) -> None:
        del self._asking[host]
        # Everybody may have stopped waiting; a failure that nobody sees is no news.
        if not task.cancelled():
            task.exception()


def _taking_turns(addresses: tuple[Address, ...]) -> tuple[Address, ...]:
    """Alternate between the families, so that a broken one costs one try (RFC 8305 4)."""
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    turns: list[Address] = []
    while first or second:
        turns += first[:1] + second[:1]
        del first[:1], second[:1]
    return tuple(turns)
