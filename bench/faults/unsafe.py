"""OnceGate on a shared store with one protection taken out: `python -m bench.faults.unsafe NAME serve …`.

The product has no switch for this; each function exchanges the part that carries the protection.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final

from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from bench.scenarios import unsafe
from gateway.adapters.redis import pool, scripts
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.line import Line
from gateway.adapters.redis.memory import Memory, Tenant
from gateway.adapters.redis.store import RedisOperationStore
from gateway.demo.gateway_process import COMMAND
from gateway.fronts.http.server import Server
from gateway.pipeline import approving
from gateway.pipeline.pinning import Pins
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import Applied, Change, Commit, Snapshot, Stale, StoreUnavailableError

STOCK_RETRIES: Final = 10
STOCK_TIMEOUT_S: Final = 60.0


def fail_open() -> None:
    """A store that is away stops nobody."""
    look, commit = RedisOperationStore.look, RedisOperationStore.commit

    async def hopeful_look(self: RedisOperationStore, *given: Any, **more: Any) -> Snapshot:
        try:
            return await look(self, *given, **more)
        except StoreUnavailableError:
            return Snapshot(now=self.now(), changed_at=self.changed_at, occurrences=(), holders=())

    async def hopeful_commit(self: RedisOperationStore, change: Change) -> Commit:
        try:
            return await commit(self, change)
        except StoreUnavailableError:
            return Applied()

    refresh, pin = Pins.refresh, RedisOperationStore.pin

    async def hopeful_refresh(self: Pins) -> None:
        with suppress(StoreUnavailableError):
            await refresh(self)

    async def hopeful_pin(self: RedisOperationStore, *given: Any) -> None:
        with suppress(StoreUnavailableError):
            await pin(self, *given)

    unsafe.put(Pins, "refresh", hopeful_refresh)
    unsafe.put(RedisOperationStore, "pin", hopeful_pin)
    unsafe.put(RedisOperationStore, "look", hopeful_look)
    unsafe.put(RedisOperationStore, "commit", hopeful_commit)


def plain_set_nx() -> None:
    """What is there already is somebody else's, as SET NX has it: no token says that it is our own."""
    ask, commit = RedisOperationStore._ask, RedisOperationStore.commit  # noqa: SLF001 - the seam
    status: ContextVar[str] = ContextVar("status")

    async def noted(self: RedisOperationStore, tenant: str, name: str, *values: Any, **more: Any) -> Any:
        reply = await ask(self, tenant, name, *values, **more)
        status.set(reply.status)
        return reply

    async def without_token(self: RedisOperationStore, change: Change) -> Commit:
        status.set("")
        told = await commit(self, change)
        if isinstance(told, Applied) and status.get() == "stale":
            return Stale(change.after)
        return told

    unsafe.put(RedisOperationStore, "_ask", noted)
    unsafe.put(RedisOperationStore, "commit", without_token)


def stock_retries() -> None:
    """The client library's own retries and time, as it comes: ten times, with growing pauses."""
    start = Client.__init__

    def patient(self: Client, *given: Any, **more: Any) -> None:
        start(self, *given, **more)
        self.timeout_s = STOCK_TIMEOUT_S

    def stock(*_: Any) -> Retry:
        return Retry(ExponentialWithJitterBackoff(base=1, cap=10), STOCK_RETRIES)

    unsafe.put(Client, "__init__", patient)
    unsafe.put(pool, "Retry", stock)


def memory_not_identified() -> None:
    """One memory is as good as another: nobody notices that a store has forgotten."""

    async def accept(self: Memory) -> None:
        self._client.accepted = await self._client.memories()
        self._id = self._id or "any"

    def shrug(self: Memory, tenant: Tenant) -> None:
        self._tenants.pop(tenant.name, None)

    unsafe.put(Memory, "_meet", accept)
    unsafe.put(Memory, "_forgotten", shrug)


def closed_pool_cancels() -> None:
    """Whoever waits for a connection to a server that is given up is cancelled with it, as awaiting a task has it."""

    async def share(self: pool.Pool) -> Line:
        if self.shared is not None and self.shared.is_open:
            return self.shared
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        return await self._opening

    unsafe.put(pool.Pool, "line", share)


def no_drain() -> None:
    """SIGTERM ends the process where it stands."""
    unsafe.put(Server, "begin_drain", lambda _server: os._exit(0))


def any_writer_wins() -> None:
    """A change is applied to whatever stands there, not to what it was made for."""
    read = scripts._text  # noqa: SLF001 - the seam
    checks = "found ~= was or "

    def careless(name: str) -> str:
        text = read(name)
        if name == "commit" and checks not in text:
            raise AttributeError("commit.lua compares no versions any more: the control must follow it")
        return text.replace(checks, "")

    unsafe.put(scripts, "_text", careless)


def approvals_never_lapse() -> None:
    """A yes is a yes, however old it is."""
    unsafe.put(Approval, "has_lapsed", lambda _approval, _wall: False)
    granted = approving.Granted
    unsafe.put(approving, "Granted", lambda *, approval_id, until: granted(approval_id=approval_id, until=None))  # noqa: ARG005 - the part left out


PROTECTIONS: Mapping[str, Callable[[], None]] = {
    "fail-open": fail_open,
    "plain-set-nx": plain_set_nx,
    "stock-retries": stock_retries,
    "memory-not-identified": memory_not_identified,
    "closed-pool-cancels": closed_pool_cancels,
    "no-drain": no_drain,
    "any-writer-wins": any_writer_wins,
    "half-open-for-all": unsafe.half_open_for_all,
    "approval-for-any-amount": unsafe.approval_for_any_amount,
    "approvals-never-lapse": approvals_never_lapse,
}


def command_without(protection: str | None) -> tuple[str, ...]:
    """What starts a gateway; `serve` and its flags follow."""
    return COMMAND if protection is None else (sys.executable, "-m", "bench.faults.unsafe", protection)


if __name__ == "__main__":
    from gateway.cli import main

    PROTECTIONS[sys.argv.pop(1)]()
    main()
