"""The tool behind every proxy: answers each request with the same JSON, as cheaply as Python can.

Run: python -m bench.downstream. It prints the address at which it listens.
"""

import asyncio
from typing import Final, cast

import httptools
import uvloop

BODY: Final = (
    b'{"refund_id":"RF-20417","status":"processed","amount_paise":425000,"order_id":"ORD-4471","payment_id":"PAY-1",'
    b'"currency":"INR","method":"upi","created_at":"2026-11-29T10:15:00Z","speed":"optimum","batch":"B-7",'
    b'"notes":"damaged on arrival"}'
)
ANSWER: Final = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Downstream(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self._transport is not None:
            self._transport.write(ANSWER)


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Downstream, "127.0.0.1", 0, backlog=1024)
    print(f"downstream listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
