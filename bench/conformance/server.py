"""The gateway as `oncegate serve` runs it, but for one thing: every request carries a key.

The official suite cannot send one. Run: python -m bench.conformance.server, with `ONCEGATE_…` variables and the key in
`CONFORMANCE_KEY`.
"""

import os
from collections.abc import Iterable

from starlette.types import Receive, Scope, Send

from gateway.app import assemble
from gateway.cli.loading import load
from gateway.cli.serve import announce
from gateway.fronts.build import build
from gateway.fronts.http.client import Client
from gateway.fronts.http.server import Application, Server, bind, run


class Keyed:
    """Puts the credential into the head of each request that has none."""

    def __init__(self, app: Application, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": self._keyed(scope["headers"])}
        await self._app(scope, receive, send)

    async def call(self, tool: str | None, headers: Iterable[tuple[bytes, bytes]], client: Client) -> None:
        """The same past ASGI."""
        await self._app.call(tool, self._keyed(headers), client)

    def _keyed(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        given = list(headers)
        return given if any(name == b"authorization" for name, _ in given) else [*given, self._header]


def main() -> None:
    """Serve until SIGTERM."""
    settings = load({}, os.environ).settings
    gateway = assemble(settings, os.environ)
    application = build(gateway.core, gateway.authenticator, settings, gateway.telemetry)
    keyed = Keyed(application, os.environ["CONFORMANCE_KEY"])
    server = Server(keyed, gateway.core, settings, announce=lambda host, port: announce(host, port, as_json=False))
    run(server, bind(settings))


if __name__ == "__main__":
    main()
