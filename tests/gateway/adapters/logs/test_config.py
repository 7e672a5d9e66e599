import asyncio
import json
import logging
import socket
from collections.abc import Iterator

import pytest
import uvicorn

from gateway.adapters.logs.config import configure_logging

SECRET = "canary-5f3759df"
TOUCHED = ("", "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")


class Announcing(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in TOUCHED]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate


def test_everything_goes_to_standard_error_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Any library's record is a line of ours."""
    configure_logging()
    logging.getLogger("some.library").warning("got %s", SECRET)

    printed = capsys.readouterr()
    assert printed.out == ""
    assert json.loads(printed.err)["message"] == "got …"


@pytest.mark.parametrize(("level", "lines"), [("info", 2), ("WARNING", 1)])
def test_the_level_is_the_operators(level: str, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    """In either case."""
    configure_logging(level)
    logging.getLogger("oncegate.events").info("one")
    logging.getLogger("oncegate.events").warning("two")

    assert len(capsys.readouterr().err.splitlines()) == lines


async def test_uvicorn_writes_through_it_and_has_no_access_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A real server, a request with a secret in its query, and an application that raises with one in its text."""

    async def app(scope: object, receive: object, send: object) -> None:  # noqa: ARG001 - an ASGI application
        raise ValueError(SECRET)

    configure_logging()
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = Announcing(config)
    serving = asyncio.create_task(server.serve())
    await server.up.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /?key={SECRET} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    server.should_exit = True
    await serving

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert answer.startswith(b"HTTP/1.1 500")
    assert f"Uvicorn running on http://127.0.0.1:{port} (Press CTRL+C to quit)" in [line["message"] for line in lines]
    assert [line["exception"] for line in lines if "exception" in line] == ["ValueError"]
    assert SECRET not in json.dumps(lines)
    assert "uvicorn.access" not in {line["logger"] for line in lines}


async def test_an_exception_that_nobody_waited_for_keeps_its_text_to_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Asyncio writes the exception into its message; only the first line is kept."""
    configure_logging()
    loop = asyncio.get_running_loop()
    loop.call_exception_handler({"message": "Task exception was never retrieved", "exception": ValueError(SECRET)})

    printed = capsys.readouterr().err
    assert json.loads(printed)["exception"] == "ValueError"
    assert SECRET not in printed
