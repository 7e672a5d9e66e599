"""`/healthz`, `/readyz`, `/metrics`: what an orchestrator and a scraper ask, without a credential."""

import asyncio
import logging

from starlette.requests import Request
from starlette.responses import Response

from gateway import __version__
from gateway.contract.requests import Readiness
from gateway.fronts.http.answers import json_response
from gateway.fronts.http.ports import Core

logger = logging.getLogger("oncegate.http")

_READY_TIMEOUT_S = 2.0


class Health:
    """The three routes."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def alive(self, _: Request) -> Response:
        """The event loop turns. Nothing else is asked: a store that is away must not restart every process at once."""
        return json_response({"alive": True, "version": __version__})

    async def ready(self, _: Request) -> Response:
        """503 while calls should go elsewhere."""
        try:
            async with asyncio.timeout(_READY_TIMEOUT_S):
                readiness = await self._core.ready()
        except TimeoutError:
            readiness = Readiness(ready=False, checks={"store": f"no answer within {_READY_TIMEOUT_S:g} s"})
        except Exception:
            logger.exception("the readiness check failed")
            readiness = Readiness(ready=False, checks={"gateway": "the check failed; the log says how"})
        return json_response(readiness.to_dict(), 200 if readiness.ready else 503)

    async def metrics(self, _: Request) -> Response:
        """Prometheus text. No metric carries an argument, a key or a tenant."""
        return Response(
            self._core.metrics(),
            headers={"content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store"},
        )
