"""Clients and stores on a server, as a gateway makes them but for their patience."""

from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import route_to
from gateway.adapters.redis.store import RedisOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.at_rest.sealing import Sealer

PATIENCE_S = 5.0
"""The machine may be busy; what asks about time has its own."""


def client_of(url: str, *, timeout_s: float = PATIENCE_S) -> Client:
    """A client of an address."""
    return Client(route_to(parse_address(url), Login(timeout_s=timeout_s)), SystemClock(), timeout_s=timeout_s)


def store_of(url: str, sealer: Sealer | None = None) -> RedisOperationStore:
    """A store of an address."""
    return RedisOperationStore(client_of(url), SystemClock(), sealer=sealer)
