"""Health, readiness, metrics."""

import asyncio

import pytest

from gateway import __version__
from gateway.contract.requests import Readiness
from gateway.fronts.http import health
from tests.gateway.fronts.http.fake_core import FakeCore
from tests.gateway.fronts.http.served import Served, serving


async def unreachable() -> Readiness:
    """A store that answers with an error."""
    raise ConnectionError("planted")


async def test_a_living_process_needs_nobody() -> None:
    """Liveness does not ask the store: otherwise one outage would restart every process."""
    async with serving(FakeCore(readiness=unreachable)) as served:
        answer = await served.client.get("/healthz", headers={"Authorization": ""})

    assert (answer.status_code, answer.json()) == (200, {"alive": True, "version": __version__})


async def test_readiness_is_the_cores(served: Served) -> None:
    """200 while calls may come, 503 when they should go elsewhere, and the body says why."""
    ready = await served.client.get("/readyz")
    served.core.drained.set()
    draining = await served.client.get("/readyz")

    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    assert (draining.status_code, draining.json()["draining"]) == (503, True)


async def test_a_check_that_fails_is_not_ready() -> None:
    """An exception in the check is a no, without its text."""
    async with serving(FakeCore(readiness=unreachable)) as served:
        answer = await served.client.get("/readyz")

    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert "planted" not in answer.text


async def test_a_check_that_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe gets its answer although the store gives none."""

    async def hangs() -> Readiness:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(health, "_READY_TIMEOUT_S", 0.05)
    async with serving(FakeCore(readiness=hangs)) as served:
        answer = await served.client.get("/readyz")

    assert (answer.status_code, answer.json()["checks"]) == (503, {"store": "no answer within 0.05 s"})


async def test_metrics_are_text_for_prometheus(served: Served) -> None:
    """A scrape gets the core's text with its media type."""
    answer = await served.client.get("/metrics", headers={"Authorization": ""})

    assert answer.content == b"oncegate_up 1\n"
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
