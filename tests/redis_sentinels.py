"""A sentinel that says what a test tells it to: real ones cannot be kept from hearing of a failover."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Self


class ScriptedSentinel:
    """Answers whoever asks on a port of loopback.

    Attributes:
        port: where.
        epoch: the config-epoch that it says.
        names: the port of loopback that it says the master is on.
        asked: how often it has been asked for an address.
        heard: the second words of the questions, in order.
        open: how many connections there are.
        hung: it takes questions and answers none.
        answers: what it says instead, raw; None: what a sentinel says.
        maps: it says the master's fields as a map (RESP3), not as a list.
        between: called after it has said an epoch, before it says an address.
        may_answer: while it is cleared, questions wait.
    """

    def __init__(self, *, names: int = 0, epoch: int = 0) -> None:
        self.port = 0
        self.epoch = epoch
        self.names = names
        self.asked = 0
        self.heard: list[bytes] = []
        self.open = 0
        self.hung = False
        self.answers: bytes | None = None
        self.maps = False
        self.between: Callable[[], object] = lambda: None
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        with contextlib.suppress(ConnectionError):
            while words := await reader.readline():
                parts = [(await reader.readline(), await reader.readline())[1].strip() for _ in range(int(words[1:]))]
                self.heard.append(parts[1].upper())
                self.asked += parts[1].upper() == b"GET-MASTER-ADDR-BY-NAME"
                await self.may_answer.wait()
                if not self.hung:
                    writer.write(self._answer(parts[1].upper()))
                    await writer.drain()
        self.open -= 1
        writer.close()

    def _answer(self, question: bytes) -> bytes:
        if self.answers is not None:
            return self.answers
        if question == b"MASTER":
            told = _text("flags") + _text("master") + _text("config-epoch") + _text(str(self.epoch))
            self.between()
            return (b"%2\r\n" if self.maps else b"*4\r\n") + told
        return b"*2\r\n" + _text("127.0.0.1") + _text(str(self.names))


def _text(value: str) -> bytes:
    return f"${len(value)}\r\n{value}\r\n".encode()
