"""Gateway processes by the dozen, from one launcher, and what is heard of them."""

import asyncio
import json
import os
import signal
import sys
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.nursery import forked
from gateway.demo.processes import Running
from tests.crash.launcher import Errand

ROOT = Path(__file__).parents[2]
STARTS_WITHIN_S = 30.0


@dataclass(slots=True, kw_only=True)
class Gateway:
    """One gateway process, listening."""

    pid: int
    url: str
    ended: "asyncio.Future[int]" = field(repr=False)
    """Done when the process is gone, with the number of the signal that ended it."""

    def kill(self) -> None:
        """SIGKILL, unless it is gone already."""
        if not self.ended.done():
            os.kill(self.pid, signal.SIGKILL)


class Fleet:
    """The launcher, as an asynchronous context: at its end no process is left."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: Running | None = None
        self._errands: int | None = None
        self._listening: asyncio.Task[None] | None = None
        self._names: dict[int, str] = {}
        self._started: dict[str, asyncio.Future[Gateway]] = {}
        self._ended: dict[int, asyncio.Future[int]] = {}

    async def __aenter__(self) -> Self:
        errands = self._log.with_suffix(".errands")
        os.mkfifo(errands)
        # For reading too, or it could not be opened before somebody reads.
        self._errands = os.open(errands, os.O_RDWR)
        with self._log.open("ab") as sink, chdir(ROOT):
            self._process = await forked((sys.executable, "-m", "tests.crash.launcher", str(errands)), sink, None)
        self._listening = asyncio.create_task(self._listen(self._process))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        assert self._errands is not None
        assert self._listening is not None
        os.close(self._errands)
        await self._listening
        await self._process.wait()

    async def start(self, errand: Errand) -> Gateway:
        """Fork a gateway and wait until it listens; `errand.name` is not used twice."""
        assert self._errands is not None
        started: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()
        self._started[errand.name] = started
        os.write(self._errands, errand.line())
        async with asyncio.timeout(STARTS_WITHIN_S):
            return await started

    async def _listen(self, process: Running) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            self._heard(json.loads(line))
        for started in self._started.values():
            if not started.done():
                started.set_exception(RuntimeError(f"the launcher ended; {self._log} says why"))

    def _heard(self, news: dict[str, Any]) -> None:
        match news["event"]:
            case "forked":
                self._names[news["pid"]] = news["name"]
            case "listening":
                gateway = Gateway(pid=news["pid"], url=news["url"], ended=self._end_of(news["pid"]))
                self._started[news["name"]].set_result(gateway)
            case "ended":
                self._end_of(news["pid"]).set_result(news["signal"])
                started = self._started.get(self._names.get(news["pid"], ""))
                if started is not None and not started.done():
                    started.set_exception(RuntimeError(f"a gateway did not start; {self._log} says why"))

    def _end_of(self, pid: int) -> "asyncio.Future[int]":
        if pid not in self._ended:
            self._ended[pid] = asyncio.get_running_loop().create_future()
        return self._ended[pid]
