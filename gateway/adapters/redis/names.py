"""Look-ups of names: one under way for each, however often it is asked for.

Whoever stops waiting does not end a look-up: it goes on until the resolver gives up, and what it finds, or that it failed, is for
whoever asks next. It has a thread of its own: those of the loop are few, and every other look-up of the process needs them.
"""

import asyncio
import contextlib
import ipaddress
import socket
import threading

from redis.exceptions import ConnectionError as NotConnectedError


class Names:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._looking: dict[str, asyncio.Future[tuple[str, ...]]] = {}

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Where it is, the best first; an address is its own.

        Raises:
            OSError, ValueError: nobody knows the name, or it is none.
            NotConnectedError: closed meanwhile.
        """
        if _is_address(host):
            return (host,)
        looking = self._looking.get(host)
        if looking is None:
            looking = self._looking[host] = asyncio.get_running_loop().create_future()
            looking.add_done_callback(_heard)
            threading.Thread(target=_look_up, args=(host, looking), name=f"look-up of {host}", daemon=True).start()
        await asyncio.wait({looking})
        if self._looking.get(host) is looking:
            del self._looking[host]
        if looking.cancelled():
            raise NotConnectedError("closed while its name was looked up")
        return looking.result()

    def close(self) -> None:
        """Wait for none any more."""
        for looking in self._looking.values():
            looking.cancel()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _look_up(host: str, looking: "asyncio.Future[tuple[str, ...]]") -> None:
    found: tuple[str, ...] | Exception
    try:
        told = socket.getaddrinfo(host, None, 0, socket.SOCK_STREAM)
        found = tuple(dict.fromkeys([str(address[0]) for *_, address in told]))
    except Exception as error:  # noqa: BLE001 - who asked would wait for ever, and nobody could ask again
        found = error
    # The loop may have ended long before the resolver gave up.
    with contextlib.suppress(RuntimeError):
        looking.get_loop().call_soon_threadsafe(_tell, looking, found)


def _tell(looking: "asyncio.Future[tuple[str, ...]]", found: tuple[str, ...] | Exception) -> None:
    if looking.done():
        return
    if isinstance(found, Exception):
        looking.set_exception(found)
    else:
        looking.set_result(found)


def _heard(looking: "asyncio.Future[tuple[str, ...]]") -> None:
    if not looking.cancelled():
        # Whoever asks next gets the exception. Where nobody does, asking for it here keeps asyncio from logging it.
        looking.exception()
