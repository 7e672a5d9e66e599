"""`prepare`: everything a call would be held to, and nothing executed."""

import re
from dataclasses import replace

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.contract.call import Caller, Expect, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.manifest.building import Operator
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import answer
from tests.gateway.pipeline.rig import CALLER, keyed, looked_up, plain
from tests.gateway.pipeline.trouble import Wires, everything


async def test_prepare_executes_nothing(rig: MakeRig) -> None:
    """No request, no record, no row; the answer says what a call would be."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"]}))
    prepared = await gateway.prepare()
    assert (gateway.provider.requests, await gateway.records(), await gateway.rows()) == ([], [], [])
    assert (prepared["effect"], prepared["verify_with"]) == ("write", "get_status")
    assert prepared["store_epoch"] == gateway.store.epoch
    assert prepared["approval"] == {"required": False, "reason": None, "approvers": None, "expires_after": None}
    assert re.fullmatch("sha256:[0-9a-f]{64}", prepared["action_hash"])


async def test_the_prepared_key_is_the_one_that_goes_downstream(rig: MakeRig) -> None:
    """The call that expects it is executed under it."""
    gateway = await rig(keyed())
    prepared = await gateway.prepare()
    expect = Expect(operation_key=prepared["operation_key"], action_hash=prepared["action_hash"])
    envelope = await gateway.call(expect=expect)
    assert envelope.ok
    assert (await gateway.record()).key == prepared["operation_key"]
    assert gateway.provider.sent[0].key == prepared["operation_key"]


async def test_what_is_done_keeps_its_key(rig: MakeRig) -> None:
    """Prepared again it is the same operation, and the call that expects it gets the stored answer."""
    gateway = await rig(plain())
    first = await gateway.prepare()
    await gateway.call()
    again = await gateway.prepare()
    assert again["operation_key"] == first["operation_key"]
    assert (await gateway.call(expect=Expect(operation_key=first["operation_key"]))).meta.replayed


async def test_a_refused_occurrence_is_followed_by_another(rig: MakeRig) -> None:
    """Corrected arguments will be the next occurrence; what was prepared for the first is stale."""
    gateway = await rig(plain())
    first = await gateway.prepare()
    gateway.provider.writes += [answer(422)]
    await gateway.call(amount=6)
    second = await gateway.prepare()
    assert second["operation_key"] != first["operation_key"]
    stale = await gateway.call(expect=Expect(operation_key=first["operation_key"]))
    assert stale.error is not None
    assert stale.error.code == ErrorCode.INTENT_STALE
    assert (await gateway.call(expect=Expect(operation_key=second["operation_key"]))).ok


@pytest.mark.parametrize("changes", [{"amount": 6}, {"arguments": {"urgent": True}}, {"run_id": "another"}])
async def test_the_action_hash_is_of_this_action(rig: MakeRig, changes: dict[str, object]) -> None:
    """Other material arguments, another run: another hash."""
    gateway = await rig(plain())
    first = await gateway.prepare(run_id="one")
    changed = {"amount": 5, "run_id": "one", **changes}
    arguments = {"order": "A", "amount": changed["amount"], **dict(changed.get("arguments", {}))}  # type: ignore[call-overload]
    call = ToolCall(tool="act", arguments=arguments, run_id=str(changed["run_id"]))
    second = await gateway.pipeline.prepare(call, CALLER)
    assert second.data["action_hash"] != first["action_hash"]


async def test_the_action_hash_is_of_this_subject_and_not_of_its_words(rig: MakeRig) -> None:
    """Another subject has another one; an immaterial note changes nothing."""
    gateway = await rig(plain())
    first = await gateway.prepare()
    other = Caller(subject="other", tenant="acme", permissions=CALLER.permissions)
    call = ToolCall(tool="act", arguments={"order": "A", "amount": 5})
    assert (await gateway.pipeline.prepare(call, other)).data["action_hash"] != first["action_hash"]
    noted = ToolCall(tool="act", arguments={"order": "A", "amount": 5, "note": "please"})
    assert (await gateway.pipeline.prepare(noted, CALLER)).data["action_hash"] == first["action_hash"]


@pytest.mark.parametrize(
    "place",
    [{"headers": {"X-Note": "{args.note}"}}, {"query": {"note": "{args.note}"}}, {"body": {"n": "{args.note}"}}],
)
async def test_the_action_hash_is_of_the_whole_request(rig: MakeRig, place: dict[str, object]) -> None:
    """What an immaterial argument puts into header, target or body was approved with the rest."""
    gateway = await rig(plain({f"backend.http.{name}": value for name, value in place.items()}))
    hashes = []
    for note in ("a", "b"):
        call = ToolCall(tool="act", arguments={"order": "A", "amount": 5, "note": note})
        hashes.append((await gateway.pipeline.prepare(call, CALLER)).data["action_hash"])
    assert hashes[0] != hashes[1]


async def test_the_action_hash_is_of_the_place_that_is_asked(rig: MakeRig) -> None:
    """The operator's environment names another host by now."""
    gateway = await rig(plain())
    first = await gateway.prepare()
    elsewhere = Operator(engine=CelEngine(), environment={"API": "http://127.0.0.2:1"})
    shelf = Shelf(gateway.manifests, elsewhere)
    there = gateway.also(replace(gateway.parts, tools=shelf))
    call = ToolCall(tool="act", arguments={"order": "A", "amount": 5})
    assert (await there.prepare(call, CALLER)).data["action_hash"] != first["action_hash"]


async def test_the_action_hash_is_of_one_occurrence(rig: MakeRig) -> None:
    """The next one is another action, although nothing else of it differs."""
    gateway = await rig(plain({"identity.window": "1h"}))
    first = await gateway.prepare()
    await gateway.call()
    gateway.clock.ahead_s += 3_601
    assert (await gateway.prepare())["action_hash"] != first["action_hash"]


async def test_a_read_has_no_key(rig: MakeRig) -> None:
    """There is nothing to hold it to."""
    gateway = await rig(plain())
    envelope = await gateway.pipeline.prepare(ToolCall(tool="get_status", arguments={"order": "A"}), CALLER)
    assert (envelope.data["effect"], envelope.data["operation_key"], envelope.data["action_hash"]) == (
        "read",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (ToolCall(tool="none", arguments={}), ErrorCode.UNKNOWN_TOOL),
        (ToolCall(tool="act", arguments={"order": "A"}), ErrorCode.MISSING_ARGUMENTS),
        (ToolCall(tool="act", arguments={"order": "..", "amount": 1}), None),
    ],
)
async def test_what_a_call_would_be_refused_for_is_refused(
    rig: MakeRig, call: ToolCall, code: ErrorCode | None
) -> None:
    """Validation, permission and rendering run as they would."""
    gateway = await rig(plain())
    envelope = await gateway.pipeline.prepare(call, CALLER)
    assert envelope.error is not None
    assert code in (None, envelope.error.code)
    nobody = Caller(subject="nobody", tenant="acme")
    refused = await gateway.pipeline.prepare(ToolCall(tool="act", arguments={"order": "A", "amount": 1}), nobody)
    assert refused.error is not None


async def test_a_missing_half_of_the_identity_is_refused(rig: MakeRig) -> None:
    """A tool that counts by run needs one here too."""
    gateway = await rig(looked_up({"identity.scope": "run", "holds": {"order": "order"}}))
    envelope = await gateway.pipeline.prepare(ToolCall(tool="act", arguments={"order": "A", "amount": 1}), CALLER)
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.RUN_ID_REQUIRED


async def test_without_the_store_the_occurrence_cannot_be_said(rig: MakeRig) -> None:
    """It is refused, not guessed."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = everything
    envelope = await gateway.pipeline.prepare(ToolCall(tool="act", arguments={"order": "A", "amount": 1}), CALLER)
    wires.it.loses = None
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.STORE_UNAVAILABLE
