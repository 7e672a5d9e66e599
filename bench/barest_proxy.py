"""The least that a Python proxy can be: Starlette in front, aiohttp behind, a body handed on and an answer handed back.

It checks, records, retries and traces nothing. Run: python -m bench.barest_proxy URL_OF_THE_DOWNSTREAM.
"""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def barest(downstream: str) -> Starlette:
    """The application."""
    sessions: list[aiohttp.ClientSession] = []

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        # No limit on connections: waiting for one would be counted as cheap.
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            sessions.append(session)
            yield

    async def hand_on(request: Request) -> Response:
        body = await request.body()
        headers = {"content-type": "application/json"}
        async with sessions[0].post(f"{downstream}{request.url.path}", data=body, headers=headers) as answer:
            return Response(await answer.read(), answer.status, media_type="application/json")

    return Starlette(routes=[Route("/v1/tools/{tool}/calls", hand_on, methods=["POST"])], lifespan=life)


def main() -> None:
    """Serve until SIGTERM."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"barest proxy listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(barest(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
