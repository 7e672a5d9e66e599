"""The payment provider of the incident: its own process, its own ledger, and any misbehaviour on demand.

Started as `python -m gateway.demo.provider`; prints `{"url": …}` once it listens and stops on SIGTERM.
Like the real one it never learns that a caller gave up: a request that arrived is carried out.
"""

import argparse
import asyncio
import json
import signal
import socket
import sqlite3
from pathlib import Path
from typing import Final

from gateway.demo.behaviour import Behaviour, Ending, Scripts
from gateway.demo.events import Events
from gateway.demo.ledger import Ledger
from gateway.demo.routes import Routes
from gateway.demo.wire import BadRequestError, Reply, read_request, reset

_LAST_PORT: Final = 65_535
_USAGE: Final = 2
GARBAGE = b"\x16\x03\x01 this is not the protocol you are looking for\r\n\r\n"


class Provider:
    """The listener, and every connection it has open."""

    def __init__(self, routes: Routes, events: Events) -> None:
        self._routes = routes
        self._events = events
        self._server: asyncio.Server | None = None
        self._reserved: socket.socket | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def listen(self, host: str, port: int) -> None:
        """Listen; `port` 0 takes a free one. The port stays ours while connections are being refused."""
        _check_free(host, port)
        self._reserved = _bound(host, port)
        self.port = self._reserved.getsockname()[1]
        await self._open(host)

    async def _open(self, host: str) -> None:
        self._server = await asyncio.start_server(self._connected, sock=_bound(host, self.port), backlog=512)

    async def refuse(self, host: str, for_s: float) -> None:
        """Refuse every connection for so many seconds, then listen again."""
        await self._shut()
        self._events.add("refusing", subject="*", for_s=for_s)
        await asyncio.sleep(for_s)
        await self._open(host)
        self._events.add("listening", subject="*")

    async def _shut(self) -> None:
        if self._server:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        await self._shut()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._reserved:
            self._reserved.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - start_server runs this in a task
        self._connections.add(task)
        self._writers.add(writer)
        try:
            while await self._one_exchange(reader, writer):
                pass
        except (ConnectionError, TimeoutError):
            pass  # the peer has gone, which changes nothing of what was done
        except asyncio.CancelledError:
            pass  # we stop; asyncio's streams log a cancelled connection as a fault (StreamReaderProtocol's callback)
        finally:
            self._connections.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _one_exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request, carry it out, end it as scripted; says whether the connection lives on."""
        try:
            request = await read_request(reader)
        except BadRequestError as problem:
            writer.write(Reply(status=400, body={"error": str(problem)}).encode())
            return False
        if request is None:
            return False
        outcome = await self._routes.carry_out(request)
        lives = await _end(writer, outcome.reply, outcome.behaviour)
        self._events.add("ended", subject=outcome.subject, ending=outcome.behaviour.ending, path=request.path)
        if outcome.refuse_s is not None:
            host = writer.get_extra_info("sockname")[0]
            # Not awaited here: this connection is among those that the refusal drops.
            self._refusing = asyncio.create_task(self.refuse(host, outcome.refuse_s))
        return lives


async def _end(writer: asyncio.StreamWriter, reply: Reply, behaviour: Behaviour) -> bool:
    match behaviour.ending:
        case Ending.CLOSE:
            return False
        case Ending.RESET:
            reset(writer)
            return False
        case Ending.STATUS:
            wait = behaviour.retry_after_s
            headers = () if wait is None else (("Retry-After", str(wait)),)
            body = {"error": "scripted", "status": behaviour.status}
            writer.write(Reply(status=behaviour.status, body=body, headers=headers).encode())
            await writer.drain()
            return True
        case Ending.HALF:
            writer.write(reply.half())
            await writer.drain()
            return False
        case Ending.GARBAGE:
            writer.write(GARBAGE)
            await writer.drain()
            return False
        case Ending.ANSWER:
            writer.write(reply.encode())
            await writer.drain()
            return True


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to {_LAST_PORT}, where 0 takes a free one")
    return int(text)


def _check_free(host: str, port: int) -> None:
    """Raise OSError where another process listens: under SO_REUSEPORT a second provider would share its connections."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # A second socket holds the port, bound and deaf, so that refusing connections does not give it away.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind((host, port))
    return bound


async def serve(*, host: str, port: int, ledger: Ledger, honours_keys: bool, has_lookup: bool) -> None:
    """Serve until SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    events = Events()
    routes = Routes(ledger, Scripts(), events, honours_keys=honours_keys, has_lookup=has_lookup)
    provider = Provider(routes, events)
    await provider.listen(host, port)
    print(json.dumps({"url": f"http://{host}:{provider.port}"}), flush=True)
    await stopped.wait()
    await provider.stop()


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m gateway.demo.provider", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=_port, default=0, help="0 takes a free one")
    parser.add_argument("--ledger", type=Path, required=True, help="the SQLite file, made if it is not there")
    parser.add_argument("--keys", choices=["honour", "ignore"], default="honour", help="what Idempotency-Key means")
    parser.add_argument("--lookup", choices=["on", "off"], default="on", help="whether refunds can be listed")
    options = parser.parse_args(arguments)
    try:
        ledger = Ledger(options.ledger)
    except sqlite3.Error as wrong:
        parser.exit(_USAGE, f"error: the ledger {options.ledger} cannot be used: {wrong}.\n")
    serving = serve(
        host=options.host,
        port=options.port,
        ledger=ledger,
        honours_keys=options.keys == "honour",
        has_lookup=options.lookup == "on",
    )
    try:
        asyncio.run(serving)
    except OSError as wrong:
        # No sentence of asyncio's: it may be a name that cannot be looked up, too.
        reason = f"cannot listen on {options.host} port {options.port}: {wrong.strerror}"
        parser.exit(_USAGE, f"error: {reason}. Give another with --port; 0 takes a free one.\n")
    finally:
        ledger.close()


if __name__ == "__main__":
    main()
