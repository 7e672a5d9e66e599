"""Records in every state, and every event of the table as something that can be done to them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.claim import Claim, Sending
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.execute.operation.ports import Applied, Change, OperationStore
from gateway.stages.execute.operation.record import Attempt, Bodies, Hold, Knowledge, Origin, Record, State
from gateway.stages.execute.operation.table import TRANSITIONS, Event

LEASE_S: Final = 30.0
HORIZON_S: Final = 20.0
CANARY: Final = "canary-4111-1111"
"""Stands in every record's arguments, request, result and hold: nothing at rest may show it."""

CELLS: Final = tuple((state, event) for state, row in TRANSITIONS.items() for event in row)
ABSENT: Final = tuple((state, event) for state in State for event in Event if event not in TRANSITIONS[state])


def origin(
    *, tenant: str = "acme", tool: str = "refund", subject: str = "agent", run_id: str | None = "run-1"
) -> Origin:
    """Who asked."""
    return Origin(
        tenant=tenant,
        subject=subject,
        operation=tool,
        tool=tool,
        tool_version="1",
        manifest_digest="d" * 64,
        effect="write",
        keyed=True,
        run_id=run_id,
        step=3,
        caller_key="caller",
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )


def claimed(name: str, now: float, *, occurrence: int = 1, by: Origin | None = None, hold: str = CANARY) -> Record:
    """A record as the first claim makes it."""
    by = by or origin()
    return Record(
        key=f"key-{name}-{occurrence}",
        identity_key=f"identity-{name}",
        occurrence=occurrence,
        operation_id=f"op-{name}-{occurrence}",
        origin=by,
        fingerprint="f" * 43,
        holds=(Hold(by.tenant, "order", hold), Hold(by.tenant, "customer", f"of {name}")),
        owner="owner",
        lease_until=now + LEASE_S,
        created_wall=1_790_000_000.5,
        bodies=Bodies(arguments={"order": CANARY, "amount": 500, "nested": {"a": [1, 2.5, None, True, "ü"]}}),
    )


def row(row_id: str, *, tenant: str = "acme", at_wall: float = 1_790_000_001.0, **fields: str) -> ExecutionRow:
    """What one call leaves behind."""
    told: dict[str, str] = {"subject": "agent", "tool": "refund", **fields}
    return ExecutionRow(row_id=row_id, kind=RowKind.CALL, at_wall=at_wall, tenant=tenant, latency_ms=1.25, **told)  # type: ignore[arg-type]  # only str fields are passed


def history(name: str, state: State, now: float) -> tuple[Record, ...]:
    """The versions of a record on its way to `state`, first to last, as one owner made them."""
    first = claimed(name, now)
    sent = fire(first, Event.GATE_PASSED, now)
    free = fire(fire(sent, Event.NOT_SENT, now), Event.GAVE_UP, now)
    ways: Mapping[State, Callable[[], tuple[Record, ...]]] = {
        State.CLAIMED: lambda: (first, sent, fire(sent, Event.NOT_SENT, now)),
        State.FREE: lambda: (first, sent, fire(sent, Event.NOT_SENT, now), free),
        State.SENT: lambda: (first, sent),
        State.LISTENING: lambda: (first, sent, fire(sent, Event.CALLER_ANSWERED, now)),
        State.UNKNOWN: lambda: (first, sent, fire(sent, Event.CONTACT_LOST, now)),
        State.DONE: lambda: (first, sent, fire(sent, Event.DONE, now)),
        State.REFUSED: lambda: (first, sent, fire(sent, Event.REFUSED, now)),
        State.FROZEN: lambda: _frozen(first, sent, now),
    }
    return ways[state]()


def before(name: str, state: State, event: Event, now: float) -> tuple[Record, ...]:
    """The same, ending in a record to which `event` can happen."""
    versions = history(name, state, now)
    last = versions[-1]
    if event is Event.DONE_FOR_ANOTHER:
        others = [replace(it, knowledge=Knowledge.VOID, fingerprint="other") for it in last.attempts]
        return (*versions, replace(last, version=last.version + 1, attempts=tuple(others)))
    if event is not Event.DONE_BESIDE_ANOTHER:
        return versions
    told = [replace(attempt, knowledge=Knowledge.UNKNOWN) for attempt in last.attempts]
    beside = replace(last, version=last.version + 1, attempts=(*told, _attempt(len(told) + 1, now)))
    return (*versions, beside)


def fire(record: Record, event: Event, now: float) -> Record:
    """Let `event` happen to a record; `now` is the store's clock."""
    return _FIRE[event](record, now)


async def drive(store: OperationStore, versions: tuple[Record, ...]) -> Record:
    """Commit the versions of a record one after another; the last."""
    earlier: Record | None = None
    for version in versions:
        assert await store.commit(Change(before=earlier, after=version)) == Applied()
        earlier = version
    return versions[-1]


def _frozen(first: Record, sent: Record, now: float) -> tuple[Record, ...]:
    unknown = fire(sent, Event.CONTACT_LOST, now)
    return (first, sent, unknown, fire(unknown, Event.FOUND_SEVERAL, now))


def _attempt(number: int, now: float) -> Attempt:
    return Attempt(
        number=number,
        fence=number,
        sent_at=now,
        sent_wall=1_790_000_003.0,
        acts_until=now + 9,
        one_effect=False,
        fingerprint="f",
    )


def _claim(owner: str, lease_until: float) -> Claim:
    return Claim(
        owner=owner,
        lease_until=lease_until,
        origin=origin(subject=owner, run_id="run-9"),
        arguments={"order": CANARY},
        fingerprint="g",
        holds=(Hold("acme", "order", f"another than {CANARY}"),),
    )


def _settlement(by: str = "attempt") -> Settlement:
    result = b'{"id":"' + CANARY.encode() + b'"}'
    return Settlement(by=by, wall=1_790_000_002.25, result=result, code="some_code", status=200)


def _sending(now: float, *, one_effect: bool) -> Sending:
    request = b"POST /refunds\r\n\r\n\x00\xff" + CANARY.encode()
    return Sending(
        send_by=now + 5.0,
        horizon_s=HORIZON_S,
        wall=1_790_000_001.0,
        one_effect=one_effect,
        request=request,
        baseline=("re_1", "re_2"),
    )


def _learn(evidence: Evidence, *, authoritative: bool = False) -> Callable[[Record, float], Record]:
    def learn(record: Record, now: float) -> Record:
        last = len(record.attempts)
        return machine.learn(record, last, evidence, _settlement(), now=now, authoritative=authoritative)

    return learn


def _replay(record: Record, now: float) -> Record:
    ownership = machine.own(record) if record.state is State.SENT else None
    sending = _sending(now, one_effect=True)
    return machine.pass_replay_gate(record, ownership, sending, owner="replayer", lease_until=now + LEASE_S, now=now)


def _find_nothing(confirm: int) -> Callable[[Record, float], Record]:
    return lambda record, now: machine.find_nothing(record, version=record.version, now=now, confirm=confirm)


def _settle(event: Event) -> Callable[[Record, float], Record]:
    return lambda record, now: machine.settle_by_operator(record, event, _settlement("operator:ann"), now=now)


_FIRE: Final[Mapping[Event, Callable[[Record, float], Record]]] = {
    Event.CLAIMED: lambda record, now: machine.claim(record, _claim("second", now + LEASE_S)),
    Event.TAKEN_OVER: lambda record, now: machine.take_over(
        record, _claim("heir", now + 2 * LEASE_S), now=max(now, record.lease_until)
    ),
    Event.GATE_PASSED: lambda record, now: machine.pass_gate(
        record, machine.own(record), _sending(now, one_effect=False), now=now
    ),
    Event.REPLAY_GATE_PASSED: _replay,
    Event.GAVE_UP: lambda record, now: machine.give_up(record, machine.own(record), now=now),
    Event.NOT_SENT: _learn(Evidence.NOT_SENT),
    Event.REFUSED_RETRYABLE: _learn(Evidence.REFUSED_RETRYABLE),
    Event.REFUSED: _learn(Evidence.REFUSED),
    Event.REFUSED_FOR_ALL: _learn(Evidence.REFUSED, authoritative=True),
    Event.DONE: _learn(Evidence.DONE),
    Event.DONE_BESIDE_ANOTHER: lambda record, now: machine.learn(record, 1, Evidence.DONE, _settlement(), now=now),
    Event.DONE_FOR_ANOTHER: _learn(Evidence.DONE),
    Event.CALLER_ANSWERED: lambda record, _: machine.answer_caller(record, machine.own(record)),
    Event.CONTACT_LOST: _learn(Evidence.LOST),
    Event.OWNER_DIED: lambda record, now: machine.see_dead_lease(record, now=max(now, record.lease_until)),
    Event.FOUND_ONE: lambda record, now: machine.find(
        record, 1, _settlement("lookup"), now=now, attempts=len(record.attempts), fingerprint=record.fingerprint
    ),
    Event.FOUND_SEVERAL: lambda record, now: machine.find(
        record, 2, _settlement("lookup"), now=now, attempts=len(record.attempts), fingerprint=record.fingerprint
    ),
    Event.FOUND_NOTHING: _find_nothing(confirm=2),
    Event.PROVED_ABSENT: _find_nothing(confirm=1),
    Event.OPERATOR_DONE: _settle(Event.OPERATOR_DONE),
    Event.OPERATOR_FREE: _settle(Event.OPERATOR_FREE),
    Event.OPERATOR_REFUSED: _settle(Event.OPERATOR_REFUSED),
}
