"""What a call means to do: identity, fingerprint and holds, from validated arguments and never from chance."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool
from gateway.stages.execute.operation.intention import (
    Intention,
    asking_as,
    differing,
    former_keys,
    intend,
    material_fingerprint,
    today,
)
from gateway.stages.execute.operation.record import Bodies, Hold, Knowledge, State
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, compiled
from tests.gateway.stages.execute.operation.records import ORIGIN, record, tried

CALLER = Caller(subject="agent-7", tenant="acme")
ARGUMENTS: Mapping[str, Any] = {"order": "A1", "amount": 500, "urgent": False}
TOOL = compiled(KEYED)


def intention(
    tool: Tool = TOOL, caller: Caller = CALLER, *, args: Mapping[str, Any] = ARGUMENTS, **call: Any
) -> Intention:
    """What this call means to do."""
    it = intend(tool, args, ToolCall(tool=tool.name, arguments=args, **call), caller, traceparent=None)
    assert isinstance(it, Intention)
    return it


def key(tool: Tool = TOOL, caller: Caller = CALLER, *, args: Mapping[str, Any] = ARGUMENTS, **call: Any) -> str:
    """The key of its first occurrence."""
    return intention(tool, caller, args=args, **call).operation_key(1)


def test_the_same_call_has_the_same_key_anywhere() -> None:
    """Identity comes from the operation; request, run, step, attempt and traces are not part of it."""
    other = key(request_id="r9", run_id="run-2", step=4, attempt=3, store_epoch="e", deadline_ms=9, traceparent="00")

    assert other == key()
    assert len(key()) == 43


def test_an_occurrence_has_its_own_key_and_shares_the_identity() -> None:
    """What goes downstream differs; where the record is looked for does not."""
    it = intention()

    assert len({it.operation_key(1), it.operation_key(2), it.identity_key}) == 3
    assert it.identity_key == intention(args={**ARGUMENTS, "amount": 9}).identity_key


def test_two_tenants_never_share_a_key() -> None:
    """Nor an identity, nor a hold."""
    tool = compiled(KEYED, {"holds": {"order": "order"}})
    mine, theirs = intention(tool), intention(tool, replace(CALLER, tenant="globex"))

    assert mine.identity_key != theirs.identity_key
    assert mine.operation_key(1) != theirs.operation_key(1)
    assert not set(mine.holds) & set(theirs.holds)


def test_listed_fields_alone_identify() -> None:
    """Another order is another operation; another amount is a different call of the same one."""
    assert key(args={**ARGUMENTS, "order": "A2"}) != key()
    assert key(args={**ARGUMENTS, "amount": 9}) == key()
    assert intention(args={**ARGUMENTS, "amount": 9}).fingerprint != intention().fingerprint


def test_all_material_arguments_identify_by_default() -> None:
    """Every one that is neither immaterial nor sensitive."""
    tool = compiled(KEYED, {"identity": {"fields": "all", "window": "1h"}})

    assert all(key(tool, args={**ARGUMENTS, name: value}) != key(tool) for name, value in
               (("order", "A2"), ("amount", 9), ("urgent", True)))  # fmt: skip
    assert key(tool, args={**ARGUMENTS, "note": "please"}) == key(tool)


@pytest.mark.parametrize(
    ("scope", "another_run", "another_subject"),
    [("global", True, True), ("run", False, True), ("subject", True, False)],
)
def test_the_scope_says_within_what_calls_are_one(scope: str, *, another_run: bool, another_subject: bool) -> None:
    """The tenant, the run or the subject: equal calls of two scopes are two operations."""
    tool = compiled(KEYED, {"identity.scope": scope})
    mine = key(tool, run_id="run-1")

    assert (key(tool, run_id="run-2") == mine) is another_run
    assert (key(tool, replace(CALLER, subject="agent-8"), run_id="run-1") == mine) is another_subject


def test_a_run_scope_needs_a_run() -> None:
    """Without one the call has no identity."""
    tool = compiled(KEYED, {"identity.scope": "run"})

    assert intend(tool, ARGUMENTS, ToolCall(tool="act", arguments={}), CALLER, traceparent=None) is (
        ErrorCode.RUN_ID_REQUIRED
    )


_CALLERS = {"identity.fields": "caller", "holds": {"order": "order"}}


def test_a_callers_own_key_is_its_own() -> None:
    """(tenant, subject, tool, header): of another subject, tool or tenant the same header is another operation."""
    tool = compiled(KEYED, _CALLERS)
    mine = key(tool, idempotency_key="k")

    assert key(tool, idempotency_key="k", args={**ARGUMENTS, "order": "A2"}) == mine
    assert mine not in {
        key(tool, idempotency_key="other"),
        key(tool, replace(CALLER, subject="agent-8"), idempotency_key="k"),
        key(tool, replace(CALLER, tenant="globex"), idempotency_key="k"),
        key(compiled(KEYED, {**_CALLERS, "name": "act2"}), idempotency_key="k"),
        key(args={"order": "k"}),
    }


def test_a_callers_key_must_be_there_when_it_identifies() -> None:
    """Without the header there is no operation to speak of."""
    tool = compiled(KEYED, _CALLERS)

    assert intend(tool, ARGUMENTS, ToolCall(tool="act", arguments={}), CALLER, traceparent=None) is (
        ErrorCode.IDEMPOTENCY_KEY_REQUIRED
    )


def test_a_callers_key_never_changes_an_operation_that_fields_identify() -> None:
    """It is stored, and that is all."""
    assert key(idempotency_key="k") == key()
    assert intention(idempotency_key="k").origin.caller_key == "k"


def test_a_successor_names_its_predecessors_operation() -> None:
    """A renamed tool finds what the old one did; without the name it is another operation."""
    successor = compiled(KEYED, {"name": "act_v2", "identity.operation": "act"})

    assert key(successor) == key()
    assert key(compiled(KEYED, {"name": "act_v2"})) != key()


def test_immaterial_and_sensitive_arguments_do_not_differ() -> None:
    """A difference in them gives the stored answer: they are not in the fingerprint."""
    tool = compiled(
        KEYED,
        {
            "arguments.properties.reason": {"type": "string", "x-immaterial": True},
            "arguments.properties.token": {"type": "string", "x-sensitive": True},
        },
    )

    assert material_fingerprint(tool, {**ARGUMENTS, "reason": "a", "token": "b"}) == material_fingerprint(
        tool, ARGUMENTS
    )
    assert material_fingerprint(tool, {**ARGUMENTS, "urgent": True}) != material_fingerprint(tool, ARGUMENTS)


def test_numbers_are_compared_as_numbers() -> None:
    """500 and 500.0 are one amount; 1 and true are two values."""
    assert material_fingerprint(TOOL, {**ARGUMENTS, "amount": 500.0}) == material_fingerprint(TOOL, ARGUMENTS)
    assert material_fingerprint(TOOL, {**ARGUMENTS, "amount": True}) != material_fingerprint(
        TOOL, {**ARGUMENTS, "amount": 1}
    )


def test_holds_are_by_name_and_value_across_tools() -> None:
    """Two tools that name one hold keep each other away, whatever their argument is called."""
    one = compiled(PLAIN, {"holds": {"order": "order"}})
    two = compiled(
        PLAIN,
        {
            "name": "other",
            "arguments.properties.id": {"type": "string"},
            "arguments.required": ["order", "amount", "id"],
            "holds": {"order": "id"},
        },
    )

    assert intention(one).holds == (Hold("acme", "order", '"A1"'),)
    assert intention(two, args={"order": "B", "amount": 1, "id": "A1"}).holds == intention(one).holds


def test_every_declared_field_is_one_entry() -> None:
    """And what is not declared holds nothing."""
    tool = compiled(KEYED, {"holds": {"order": "order", "sum": "amount"}})

    assert intention(tool).holds == (Hold("acme", "order", '"A1"'), Hold("acme", "sum", "500"))
    assert intention().holds == ()


def test_no_value_is_no_entry() -> None:
    """An argument that is not there keeps nobody away."""
    tool = compiled(KEYED, {"holds": {"order": "order", "sum": "amount"}})

    assert intention(tool, args={"order": "A1"}).holds == (Hold("acme", "order", '"A1"'),)


def test_the_origin_says_who_asked_and_by_which_manifest() -> None:
    """Fixed with the claim: a reconciliation needs it when the manifest has changed."""
    call = ToolCall(tool="act", arguments=ARGUMENTS, run_id="run-1", step=3, idempotency_key="k")
    it = intend(TOOL, ARGUMENTS, call, CALLER, traceparent="00-1")
    assert isinstance(it, Intention)
    origin = it.origin

    assert (origin.tenant, origin.subject, origin.operation, origin.tool) == ("acme", "agent-7", "act", "act")
    assert (origin.tool_version, origin.manifest_digest, origin.revision) == ("1.0.0", TOOL.digest, 1)
    assert (origin.run_id, origin.step, origin.caller_key, origin.traceparent) == ("run-1", 3, "k", "00-1")
    assert (origin.effect, origin.keyed) == ("write", True)
    assert (it.arguments, it.tool) == (ARGUMENTS, TOOL)
    assert not intention(compiled(PLAIN)).origin.keyed
    assert (origin.reader_digest, origin.reader_place) == (None, None)


def test_the_origin_says_whom_its_look_up_asks() -> None:
    """By the read's manifest and by where it asks, which a later one may change."""
    reader = compiled(READ)
    call = ToolCall(tool="act", arguments=ARGUMENTS)
    it = intend(TOOL, ARGUMENTS, call, CALLER, traceparent=None, reader=reader)
    assert isinstance(it, Intention)
    assert (it.origin.reader_digest, it.origin.reader_place) == (reader.digest, reader.backend.request.place)


@pytest.mark.parametrize(
    ("known", "asks"), [((), "new"), ((Knowledge.REFUSED,), "new"), ((Knowledge.VOID, Knowledge.NOT_SENT), "old")]
)
def test_a_claim_goes_on_with_the_read_of_its_baseline(known: tuple[Knowledge, ...], asks: str) -> None:
    """Where something of the record's own may be there; where nothing can be, the claim brings its own read."""
    old = replace(ORIGIN, reader_digest="old", reader_place="old")
    claimed = asking_as(
        record(State.FREE, tried(*known), origin=old), replace(ORIGIN, reader_digest="new", reader_place="new")
    )
    assert (claimed.reader_digest, claimed.reader_place) == (asks, asks)


_FIRST, _AGAIN = ToolCall(tool="act", arguments={}), ToolCall(tool="act", arguments={}, attempt=2, store_epoch="e1")


@pytest.mark.parametrize(
    ("call", "epoch", "may"),
    [
        (_FIRST, "e1", False),
        (_AGAIN, "e1", False),
        (_AGAIN, "e2", True),
        (replace(_AGAIN, store_epoch=None), "e1", True),
        (replace(_FIRST, store_epoch="e1"), "e2", False),
    ],
)
def test_only_a_second_send_under_another_epoch_may_be_forgotten(call: ToolCall, epoch: str, *, may: bool) -> None:
    """Under the same epoch the store cannot have had it; a first attempt was never sent; without an epoch, who knows."""
    assert intention().newcomer(call, epoch=epoch).may_have_been_sent is may


@pytest.mark.parametrize(
    ("effect", "window", "keeps"),
    [("write", None, True), ("write", "1h", True), ("idempotent", None, False), ("idempotent", "1h", True)],
)
def test_an_idempotent_tool_keeps_an_answer_only_with_a_window(effect: str, window: str | None, *, keeps: bool) -> None:
    """A write always does; times come from the manifest."""
    changes = {"effect": effect, "identity": {"fields": ["order"], "refusal_ttl": "5s"}}
    tool = compiled(KEYED, changes | ({} if window is None else {"identity.window": window}))
    newcomer = intention(tool).newcomer(_FIRST, epoch="e")

    assert newcomer.keeps_answer is keeps
    assert newcomer.window_s == (None if window is None else 3600.0)
    assert (newcomer.refusal_ttl_s, newcomer.fingerprint) == (5.0, intention(tool).fingerprint)


def test_the_arguments_that_differ_are_named() -> None:
    """The material ones of a conflict, or the others of a warning; given, missing or of another type."""
    stored = {"order": "A1", "amount": 1, "note": "a"}
    given = {"order": "A1", "amount": True, "urgent": False, "note": "b"}

    assert differing(TOOL, stored, given, material=True) == ("amount", "urgent")
    assert differing(TOOL, stored, given, material=False) == ("note",)
    assert differing(TOOL, stored, {**stored, "amount": 1.0}, material=True) == ()
    assert differing(TOOL, {"gone": 1}, {}, material=False) == ("gone",)


_SECOND = compiled(KEYED, {"identity": {"fields": ["order", "amount"], "revision": 2}})
_THIRD = compiled(
    KEYED,
    {
        "identity": {"fields": ["order", "amount"], "revision": 3},
        "arguments.properties.speed": {"type": "string", "default": "slow"},
    },
)


def test_records_of_earlier_revisions_are_looked_for_under_their_keys() -> None:
    """From the call as it was received, prepared by the earlier manifest; each key once."""
    call = ToolCall(tool="act", arguments={"order": " a1 ", "amount": 500})

    assert former_keys((TOOL, TOOL), call, CALLER) == (intention().identity_key,)
    assert former_keys((TOOL, _SECOND), call, CALLER) == (intention().identity_key, intention(_SECOND).identity_key)
    assert former_keys((), call, CALLER) == ()


def test_a_new_default_is_no_other_call() -> None:
    """A record of an earlier revision is compared with its stored arguments defaulted by the current schema."""
    args = {**ARGUMENTS, "speed": "slow"}
    old = record(
        State.DONE,
        fingerprint=intention().fingerprint,
        origin=intention().origin,
        bodies=Bodies(arguments=ARGUMENTS),
    )

    assert old.fingerprint != intention(_THIRD, args=args).fingerprint
    assert today(old, _THIRD).fingerprint == intention(_THIRD, args=args).fingerprint
    assert today(old, _THIRD) == replace(old, fingerprint=intention(_THIRD, args=args).fingerprint)
    assert today(old, TOOL) is old
    assert today(replace(old, tombstone=True), _THIRD).fingerprint == old.fingerprint


@pytest.mark.parametrize(
    ("tool", "status"),
    [
        (compiled(KEYED, {"downstream_key.mismatch_status": 400}), 400),
        (compiled(KEYED, {"downstream_key.caches": "all"}), None),
        (compiled(PLAIN), None),
    ],
)
def test_a_key_that_keeps_no_refusals_is_not_given_up_for_a_mismatch(tool: Tool, status: int | None) -> None:
    """One that keeps them would answer a corrected call with the old refusal for ever."""
    made = intention(tool).newcomer(ToolCall(tool="act", arguments=ARGUMENTS), epoch="e")

    assert made.key_used_status == status
