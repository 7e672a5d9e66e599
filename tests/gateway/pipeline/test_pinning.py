"""Manifests change; what records were made with stays."""

import json

import pytest

from gateway.contract.codes import ErrorCode
from gateway.pipeline.pinning import Pins, RevisionError
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import Rig, keyed, looked_up, plain, read


def rewrite(rig: Rig, manifest: dict[str, object]) -> None:
    """Replace a manifest on disk and in use."""
    (rig.manifests / f"{manifest['name']}.yaml").write_text(json.dumps(manifest, indent=1))
    assert rig.shelf.reload()


async def test_a_manifest_is_pinned_before_its_first_record(rig: MakeRig) -> None:
    """The manifest of a record can be read back from the store by the digest that the record names."""
    gateway = await rig(keyed())
    await gateway.call()
    record = await gateway.record()
    pinned = {it.digest: it for it in await gateway.store.pinned()}

    assert pinned[record.origin.manifest_digest].canonical == gateway.shelf.catalogue.tools["act"].canonical


async def test_the_read_of_a_look_up_is_pinned_with_it(rig: MakeRig) -> None:
    """Also when only the read has changed since."""
    gateway = await rig(looked_up())
    await gateway.call()
    rewrite(gateway, read({"version": "2.0.0"}))
    await gateway.call(order="B")
    first, second = (it.origin.reader_digest for it in await gateway.records())
    assert first != second
    assert {first, second} <= {it.digest for it in await gateway.store.pinned()}


async def test_a_changed_tool_is_reconciled_by_the_manifest_of_the_record(rig: MakeRig) -> None:
    """A process that never saw the earlier manifest still looks an operation up by that manifest's look-up."""
    gateway = await rig(looked_up({"version": "1.0.0"}))
    await gateway.call()
    record = await gateway.record()
    rewrite(gateway, looked_up({"version": "2.0.0"}))
    pins = Pins(gateway.parts)
    tool = await pins.tool_of(record)

    assert tool is not None
    assert (tool.version, tool.digest) == ("1.0.0", record.origin.manifest_digest)


async def test_a_removed_tool_is_reconciled_by_the_manifest_of_the_record(rig: MakeRig) -> None:
    """A tool that is gone from the directory still settles what it began."""
    gateway = await rig(keyed())
    await gateway.call()
    record = await gateway.record()
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    tool = await Pins(gateway.parts).tool_of(record)

    assert tool is not None
    assert tool.name == "act"


async def test_records_of_an_earlier_revision_are_found(rig: MakeRig) -> None:
    """With `identity.revision` raised, what was done under the old identity is answered, not done again."""
    gateway = await rig(keyed({"identity.fields": ["order"]}))
    first = await gateway.call(order="A", amount=5)
    rewrite(gateway, keyed({"identity.fields": ["order", "amount"], "identity.revision": 2}))
    again = await gateway.call(order="A", amount=5)

    assert again.meta.replayed
    assert again.data == first.data
    assert len(gateway.provider.sent) == 1


async def test_the_old_identity_still_refuses_what_it_refused(rig: MakeRig) -> None:
    """Other material arguments on an operation that the old identity counts as the same are a conflict."""
    gateway = await rig(keyed({"identity.fields": ["order"]}))
    await gateway.call(order="A", amount=5)
    rewrite(gateway, keyed({"identity.fields": ["order", "amount"], "identity.revision": 2}))
    other = await gateway.call(order="A", amount=6)

    assert other.error is not None
    assert other.error.code is ErrorCode.IDEMPOTENCY_CONFLICT


async def test_a_hold_of_an_earlier_revision_still_holds(rig: MakeRig) -> None:
    """Whose outcome is unknown keeps the order as it did, though the hold has another name by now."""
    by_both = {"identity.fields": ["order", "amount"]}
    gateway = await rig(plain(by_both))
    gateway.provider.writes += [cut]
    await gateway.call(amount=5)
    rewrite(gateway, plain({**by_both, "identity.revision": 2, "holds": {"parcel": "order"}}))
    blocked = await gateway.call(amount=6)
    assert blocked.error is not None
    assert (blocked.error.code, len(gateway.provider.sent)) == (ErrorCode.BLOCKED_BY_UNKNOWN, 1)


async def test_a_free_record_of_an_earlier_revision_keeps_its_key(rig: MakeRig) -> None:
    """It is sent under the key that its record and its look-ups know, not under the new identity's."""
    gateway = await rig(keyed({"identity.fields": ["order"]}))
    await gateway.provider.stop()
    await gateway.call(order="A", amount=5)
    free = await gateway.record()
    await gateway.provider.start()
    rewrite(gateway, keyed({"identity.fields": ["order", "amount"], "identity.revision": 2}))
    await gateway.call(order="A", amount=5)

    assert (free.state, (await gateway.record()).state) == (State.FREE, State.DONE)
    assert [request.key for request in gateway.provider.sent] == [free.key]


async def test_a_new_optional_argument_is_no_other_call(rig: MakeRig) -> None:
    """Stored arguments are compared as the current schema defaults them."""
    gateway = await rig(keyed())
    await gateway.call()
    schema = keyed()["arguments"]
    widened = {**schema, "properties": {**schema["properties"], "currency": {"type": "string", "default": "INR"}}}
    rewrite(gateway, keyed({"arguments": widened, "identity.revision": 2}))

    assert (await gateway.call()).meta.replayed


async def test_a_changed_identity_without_a_raised_revision_does_not_start(rig: MakeRig) -> None:
    """A process that would lose the records of its predecessor refuses to start, and says what to do."""
    gateway = await rig(keyed({"identity.fields": ["order"]}))
    await gateway.call()
    changed = keyed({"identity.fields": ["order", "amount"]})
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    rewrite(gateway, changed)

    with pytest.raises(RevisionError, match=r"raise identity\.revision above 1"):
        await Pins(gateway.parts).start()


async def test_a_read_may_change_as_it_likes(rig: MakeRig) -> None:
    """It keeps no record, and has no revision to raise: its other normalisers stop no process."""
    gateway = await rig(keyed(), started=True)
    changed = {"arguments.properties.order.x-normalise": ["trim", "upper"]}
    (gateway.manifests / "get_status.yaml").write_text(json.dumps(read(changed), indent=1))
    assert gateway.shelf.reload()
    await Pins(gateway.parts).start()


async def test_a_manifest_is_pinned_once(rig: MakeRig) -> None:
    """Many calls of one manifest leave one pin."""
    gateway = await rig(keyed())
    for order in "ABC":
        await gateway.call(order=order)

    assert [it.tool for it in await gateway.store.pinned()] == ["act"]
    assert {record.state for record in await gateway.records()} == {State.DONE}
