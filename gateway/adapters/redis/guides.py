"""Those who know the way to the masters: sentinels, and the nodes of a cluster.

All are asked at once, so that one that hangs keeps nobody from the others, and again each second while what they said is in
use. Nobody waits for that; but it must not go unnoticed that fewer and fewer of them say anything.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Final, TypeVar

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.limit import Limit
from gateway.adapters.redis.names import Names
from gateway.adapters.redis.packing import packed
from gateway.adapters.redis.pool import Login, connection_to, drop

GUIDE_S: Final = 0.1
"""How long all together are waited for."""
LOOKS_AGAIN_S: Final = 1.0
"""How long their word holds while the servers that they named answer."""
_SILENT: Final = 3
"""How often in a row one of the list may say nothing before that is told."""

_log = logging.getLogger("oncegate")
_T = TypeVar("_T")


class Guides:
    """Belongs to one event loop.

    Attributes:
        names: looks up where they are.
    """

    def __init__(self, listed: tuple[Node, ...], silence: str, look: Callable[[], Awaitable[object]]) -> None:
        """Make them of those in the address.

        Args:
            silence: what it means that one of `listed` says nothing, in words that are followed by where it is.
            look: asks anew and follows what was said; where it fails with the library's, or with OSError, what is known stays.
        """
        self.names = Names()
        self._missed = dict.fromkeys(listed, 0)
        self._silence = silence
        self._look = look
        self._asked_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    @property
    def caveats(self) -> tuple[str, ...]:
        """That some of those in the address have said nothing for some time, as a sentence."""
        silent = [_text(node) for node, missed in self._missed.items() if missed >= _SILENT]
        return (f"{self._silence}: {', '.join(silent)}.",) if silent else ()

    def used(self) -> None:
        """What they said is in use: look again where it is old."""
        loop = asyncio.get_running_loop()
        if self._looking is None and loop.time() - self._asked_at >= LOOKS_AGAIN_S:
            self._looking = loop.create_task(self._look_again())
            self._looking.add_done_callback(self._looked)

    def believed(self) -> None:
        """What they said just now is in use from now on."""
        self._asked_at = asyncio.get_running_loop().time()

    async def ask(
        self, nodes: Iterable[Node], question: Callable[[Node], Coroutine[Any, Any, _T | None]]
    ) -> dict[Node, _T]:
        """What each of them answers; None is no answer. Who has not answered in time is not waited for, and nothing of it stays open."""
        asked = {node: asyncio.create_task(question(node)) for node in nodes}
        try:
            with contextlib.suppress(TimeoutError):
                async with Limit(GUIDE_S):
                    await asyncio.wait(asked.values())
        finally:
            for task in asked.values():
                task.cancel()
        told = {node: said for node, task in asked.items() if task.done() and (said := task.result()) is not None}
        self._note(told)
        return told

    def close(self) -> None:
        """Ask no more."""
        if self._looking is not None:
            self._looking.cancel()
        self.names.close()

    async def _look_again(self) -> None:
        # Where nobody answers, or only such as know less, the servers that answer are the best that is known.
        with contextlib.suppress(RedisError, OSError):
            await self._look()

    def _looked(self, _: "asyncio.Task[None]") -> None:
        self._looking = None
        self.believed()

    def _note(self, told: dict[Node, _T]) -> None:
        for node, missed in self._missed.items():
            if node not in told:
                self._missed[node] = missed + 1
                if missed + 1 == _SILENT:
                    _log.warning("%s: %s", self._silence, _text(node))
            elif missed:
                self._missed[node] = 0
                if missed >= _SILENT:
                    _log.info("it answers again: %s", _text(node))


def _text(node: Node) -> str:
    return f"{node[0]}:{node[1]}"


async def ask(names: Names, node: Node, login: Login, *commands: tuple[str, ...]) -> list[Any]:
    """Commands to a node that need not be a master, on a connection of their own; they go out together.

    Raises:
        RedisError, OSError: no answer; or the first error that is among the answers.
    """
    connection = await _connected(await names.addresses(node[0]), node, login)
    try:
        await connection.send_packed_command(b"".join([packed(each) for each in commands]), check_health=False)
        return [await connection.read_response() for _ in commands]
    finally:
        drop(connection)


async def _connected(addresses: tuple[str, ...], node: Node, login: Login) -> AbstractConnection:
    """A connection to the first address that takes one; a certificate is for the node's name all the same."""
    for address in addresses:
        connection = connection_to(node, login)
        how = {**connection._connection_arguments(), "host": address}  # type: ignore[attr-defined]  # noqa: SLF001
        if login.tls:
            how["server_hostname"] = node[0]
        connection._connection_arguments = partial(dict, how)  # type: ignore[attr-defined]  # noqa: SLF001 - it would look up itself
        try:
            await connection.connect()
        except BaseException as error:
            drop(connection)
            if address == addresses[-1] or not isinstance(error, (RedisError, OSError)):
                raise
        else:
            return connection
    raise NotConnectedError("its name has no address")
