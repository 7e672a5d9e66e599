"""The gateway as `oncegate serve` runs it, but for one thing: every request carries a key.

The official suite cannot send one. Run: python -m bench.conformance.server, with `ONCEGATE_…` variables and the key in
`CONFORMANCE_KEY`.
"""

import os

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.app import assemble
from gateway.cli.loading import load
from gateway.cli.serve import announce
from gateway.fronts.build import build
from gateway.fronts.http.server import Server, bind, run


class Keyed:
    """Puts the credential into the head of each request that has none."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not any(name == b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


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
