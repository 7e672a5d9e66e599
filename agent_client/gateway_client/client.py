"""The HTTP client of the gateway, for code that awaits."""

import asyncio
import functools
import ssl
from collections.abc import Mapping
from typing import Any, Final, Self

import httpx

from agent_client.gateway_client.asking import Ask, ask_get, ask_post, ask_tool, segment
from agent_client.gateway_client.blocking import BlockingGateway
from agent_client.gateway_client.carrying import DEFAULT_PATIENCE, DoWait, Ended, Errand, Patience
from agent_client.gateway_client.exchange import Bounds, Connection, encode, exchange
from agent_client.gateway_client.reading import read
from agent_client.gateway_client.views import approval_of, approvals_of, catalogue_of, operation_of, operations_of
from agent_client.ports import Chance, Clock, GatewayUnreachable
from agent_client.system import SystemChance, SystemClock
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.envelope import Envelope
from gateway.contract.requests import SettledAs, ToolSummary

DEFAULT_BOUNDS: Final = Bounds()


class Gateway:
    """OnceGate over HTTP; an `agent_client.ports.ToolGateway`.

    Every method but `carry_out` sends exactly one request and raises `GatewayUnreachable` when no envelope came back;
    `never_sent` tells whether it can have arrived. Those that return a view raise `GatewayRefused` for a refusal.

    `carry_out` is for code without a loop: it prepares, holds every send to what was prepared, and repeats what the
    contract says is safe.

    Args:
        url: `http://` or `https://`, a host, and at most a path before `/v1`.
        token: an API key or a JWT. It is in no log line, message or repr.
        verify: which certificates are trusted, where the machine's own are not enough.
        proxy: what stands between, as httpx takes it. The environment's settings are not read.

    Raises:
        ValueError: from the constructor, for a url or a token that cannot be one.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str,
        bounds: Bounds = DEFAULT_BOUNDS,
        verify: ssl.SSLContext | None = None,
        proxy: str | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._connection = Connection(url, token, bounds, verify=verify, proxy=proxy)
        self._clock = clock or SystemClock()
        self._chance = chance or SystemChance()
        self._client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    def __repr__(self) -> str:
        return f"<Gateway {self._connection.url}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections that are open."""
        if self._client is not None:
            _, client = self._client
            self._client = None
            await client.aclose()

    @functools.cached_property
    def sync(self) -> BlockingGateway:
        """The same gateway for code that blocks. Close it by its own `close`."""
        return BlockingGateway(self._connection, chance=self._chance)

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        """The tools this caller may use."""
        return catalogue_of(await self._ask(ask_get("/v1/tools")))

    async def prepare(self, request: CallRequest) -> Envelope:
        """Validate, authorise, derive key and action hash. Executes nothing; `read_prepared(envelope.data)`."""
        return await self._ask(ask_tool("prepare", request))

    async def call(self, request: CallRequest) -> Envelope:
        """Execute, at most once for the operation. Cancelling it ends a read, and changes nothing for a write."""
        return await self._ask(ask_tool("calls", request))

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        """One operation by its id or by its key (exactly one); None: there is none this caller may see."""
        if (operation_id is None) is (key is None):
            raise ValueError("give operation_id or key, one of them")
        if operation_id is not None:
            return operation_of(await self._ask(ask_get(f"/v1/operations/{segment(operation_id)}")))
        found = operations_of(await self._ask(ask_get("/v1/operations", key=key)))
        return found[0] if found else None

    async def operations(
        self, *, state: str | None = None, run_id: str | None = None, tool: str | None = None, limit: int | None = None
    ) -> tuple[OperationView, ...]:
        """Operations that fit all conditions, newest first. `state`: as `OperationState` names them."""
        most = None if limit is None else str(limit)
        asked = ask_get("/v1/operations", state=state, run_id=run_id, tool=tool, limit=most)
        return operations_of(await self._ask(asked))

    async def reconcile(self, operation_id: str) -> Envelope:
        """Have the gateway look now, by the manifest's means; `read_operation(envelope.data)` when ok."""
        return await self._ask(ask_post(f"/v1/operations/{segment(operation_id)}/reconcile"))

    async def settle(self, operation_id: str, settled_as: SettledAs, *, evidence: str, result: Any = None) -> Envelope:
        """An operator's word on how an operation ended; needs `operations:settle`."""
        path = f"/v1/operations/{segment(operation_id)}/settle"
        return await self._ask(ask_post(path, settled_as=settled_as.value, evidence=evidence, result=result))

    async def approval(self, approval_id: str) -> ApprovalView | None:
        """One approval; None: there is none this caller may see."""
        return approval_of(await self._ask(ask_get(f"/v1/approvals/{segment(approval_id)}")))

    async def approvals(self, *, state: str | None = None) -> tuple[ApprovalView, ...]:
        """The inbox: what this caller may decide or has asked for. `state`: as `ApprovalState` names them."""
        return approvals_of(await self._ask(ask_get("/v1/approvals", state=state)))

    async def decide(self, approval_id: str, *, approve: bool, note: str | None = None) -> Envelope:
        """Approve or deny. A second decision is refused by the gateway, so a lost answer is looked up by `approval`."""
        path = f"/v1/approvals/{segment(approval_id)}/decision"
        return await self._ask(ask_post(path, decision="approve" if approve else "deny", note=note))

    async def carry_out(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        run_id: str,
        step: int = 1,
        patience: Patience = DEFAULT_PATIENCE,
        **more: Any,
    ) -> Envelope:
        """One action from beginning to end. Always an envelope: a lost answer is told as an unknown outcome.

        `more`: any other field of `CallRequest`, such as `idempotency_key` or `timeout_s`.
        """
        began = self._clock.monotonic()
        errand = Errand.to(
            tool, arguments, patience, chance=self._chance, began=began, run_id=run_id, step=step, **more
        )
        move = errand.first()
        while not isinstance(move, Envelope):
            if isinstance(move, DoWait):
                pause_s = errand.pause(move, now=self._clock.monotonic())
                if pause_s is not None:
                    await self._clock.sleep(pause_s)
                move = errand.after(pause_s is not None)
            else:
                move = errand.after(await self._came(move.ask()))
        return move

    async def _came(self, ask: Ask) -> Ended:
        try:
            return await self._ask(ask)
        except GatewayUnreachable as silence:
            return silence

    async def _ask(self, ask: Ask) -> Envelope:
        body = None if ask.body is None else encode(ask.body)
        return read(ask, await exchange(self._open(), self._connection, ask, body))

    def _open(self) -> httpx.AsyncClient:
        """The client of the running loop: connections of a loop that has ended answer nobody."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            settings: Any = self._connection.settings()
            self._client = (loop, httpx.AsyncClient(**settings))
        return self._client[1]
