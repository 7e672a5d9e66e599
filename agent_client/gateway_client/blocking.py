"""The HTTP client of the gateway, for code that blocks. Method for method the same as `client.Gateway`."""

from collections.abc import Mapping
from typing import Any, Protocol, Self

import httpx

from agent_client.gateway_client.asking import Ask, ask_get, ask_post, ask_tool, segment
from agent_client.gateway_client.carrying import DEFAULT_PATIENCE, DoWait, Ended, Errand, Patience
from agent_client.gateway_client.exchange import Connection, encode, exchange_blocking
from agent_client.gateway_client.reading import read
from agent_client.gateway_client.views import approval_of, approvals_of, catalogue_of, operation_of, operations_of
from agent_client.ports import Chance, GatewayUnreachable
from agent_client.system import SystemChance, SystemClock
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.envelope import Envelope
from gateway.contract.requests import SettledAs, ToolSummary


class BlockingClock(Protocol):
    """Time for a thread."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...

    def sleep_blocking(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...


class BlockingGateway:
    """`Gateway.sync`. One may be shared by threads. Raises and returns what `Gateway` does.

    An answer whose head drips is bounded between two bytes only; everything else as in `Gateway`.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        clock: BlockingClock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._connection = connection
        self._clock = clock or SystemClock()
        self._chance = chance or SystemChance()
        settings: Any = connection.settings()
        self._client = httpx.Client(**settings)

    def __repr__(self) -> str:
        return f"<BlockingGateway {self._connection.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are open."""
        self._client.close()

    def catalogue(self) -> tuple[ToolSummary, ...]:
        """The tools this caller may use."""
        return catalogue_of(self._ask(ask_get("/v1/tools")))

    def prepare(self, request: CallRequest) -> Envelope:
        """Validate, authorise, derive key and action hash. Executes nothing; `read_prepared(envelope.data)`."""
        return self._ask(ask_tool("prepare", request))

    def call(self, request: CallRequest) -> Envelope:
        """Execute, at most once for the operation."""
        return self._ask(ask_tool("calls", request))

    def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        """One operation by its id or by its key (exactly one); None: there is none this caller may see."""
        if (operation_id is None) is (key is None):
            raise ValueError("give operation_id or key, one of them")
        if operation_id is not None:
            return operation_of(self._ask(ask_get(f"/v1/operations/{segment(operation_id)}")))
        found = operations_of(self._ask(ask_get("/v1/operations", key=key)))
        return found[0] if found else None

    def operations(
        self, *, state: str | None = None, run_id: str | None = None, tool: str | None = None, limit: int | None = None
    ) -> tuple[OperationView, ...]:
        """Operations that fit all conditions, newest first. `state`: as `OperationState` names them."""
        most = None if limit is None else str(limit)
        asked = ask_get("/v1/operations", state=state, run_id=run_id, tool=tool, limit=most)
        return operations_of(self._ask(asked))

    def reconcile(self, operation_id: str) -> Envelope:
        """Have the gateway look now, by the manifest's means; `read_operation(envelope.data)` when ok."""
        return self._ask(ask_post(f"/v1/operations/{segment(operation_id)}/reconcile"))

    def settle(self, operation_id: str, settled_as: SettledAs, *, evidence: str, result: Any = None) -> Envelope:
        """An operator's word on how an operation ended; needs `operations:settle`."""
        path = f"/v1/operations/{segment(operation_id)}/settle"
        return self._ask(ask_post(path, settled_as=settled_as.value, evidence=evidence, result=result))

    def approval(self, approval_id: str) -> ApprovalView | None:
        """One approval; None: there is none this caller may see."""
        return approval_of(self._ask(ask_get(f"/v1/approvals/{segment(approval_id)}")))

    def approvals(self, *, state: str | None = None) -> tuple[ApprovalView, ...]:
        """The inbox: what this caller may decide or has asked for. `state`: as `ApprovalState` names them."""
        return approvals_of(self._ask(ask_get("/v1/approvals", state=state)))

    def decide(self, approval_id: str, *, approve: bool, note: str | None = None) -> Envelope:
        """Approve or deny. A second decision is refused by the gateway, so a lost answer is looked up by `approval`."""
        path = f"/v1/approvals/{segment(approval_id)}/decision"
        return self._ask(ask_post(path, decision="approve" if approve else "deny", note=note))

    def carry_out(
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
                    self._clock.sleep_blocking(pause_s)
                move = errand.after(pause_s is not None)
            else:
                move = errand.after(self._came(move.ask()))
        return move

    def _came(self, ask: Ask) -> Ended:
        try:
            return self._ask(ask)
        except GatewayUnreachable as silence:
            return silence

    def _ask(self, ask: Ask) -> Envelope:
        body = None if ask.body is None else encode(ask.body)
        return read(ask, exchange_blocking(self._client, self._connection, self._clock, ask, body))
