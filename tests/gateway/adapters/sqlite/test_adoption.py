"""Whose file it is: machine, boot, keys."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.sqlite.adoption import StoreRefusedError
from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.at_rest.sealing import Sealer, SealError
from gateway.stages.execute.operation.ports import Change, HeldBy
from gateway.stages.execute.operation.rebase import rebase
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.moves import CANARY, LEASE_S, claimed, drive, fire, history
from tests.conformance.stores import SEAL_KEY, host

OTHER_KEY = "k2:" + base64.b64encode(b"2" * 32).decode()


async def fill(path: Path, by: Host, setting: str = "", *names: str) -> list[Record]:
    """Store an unknown record of each name and close."""
    store = SqliteOperationStore.open(path, host=by, sealer=Sealer.parse(setting))
    records = [
        await drive(store, tuple(replace(r, holds=()) for r in history(name, State.UNKNOWN, by.boottime())))
        for name in (names or ("a",))
    ]
    await store.close()
    return records


async def read(path: Path, by: Host, setting: str = "", name: str = "a") -> Record | None:
    """Open the file, read one record, and close."""
    store = SqliteOperationStore.open(path, host=by, sealer=Sealer.parse(setting))
    try:
        return await store.by_key("acme", claimed(name, 0.0).key)
    finally:
        await store.close()


def shows_canary(path: Path) -> bool:
    """Whether the bytes on the disk tell what nobody may read in them."""
    return CANARY.encode() in path.read_bytes()


@pytest.mark.parametrize("state", State)
async def test_another_boot_begins_times_anew(path: Path, clock: ManualClock, state: State) -> None:
    """Open records are rebased once, by whoever opens the file first; settled ones have no time that runs."""
    store = SqliteOperationStore.open(path, host=host(clock))
    record = await drive(store, history("a", state, clock.monotonic()))
    await store.close()
    rebooted = replace(host(clock), boot_id="boot-2", boottime=lambda: 5.0)

    kept = [await read(path, rebooted), await read(path, replace(rebooted, boottime=lambda: 9.0))]

    ended = state in (State.DONE, State.REFUSED)
    assert kept == [record if ended else rebase(record, now=5.0, lease_s=LEASE_S)] * 2


async def test_care_begins_anew_with_the_boot(path: Path, clock: ManualClock) -> None:
    """Sweepers died with the boot: what they had leased is due, and owned records are once their lease has passed."""
    store = SqliteOperationStore.open(path, host=host(clock))
    unknown = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    sent = await drive(store, (claimed("b", clock.monotonic()),))
    await store.lease_due("sweeper", 1_000.0, 10)
    await store.release("acme", unknown.key, "sweeper", 5_000.0)
    await store.close()
    now = 3.0
    store = SqliteOperationStore.open(path, host=replace(host(clock), boot_id="boot-2", boottime=lambda: now))

    assert [r.key for r in await store.lease_due("sweeper", 1.0, 10)] == [unknown.key]
    now = 3.0 + LEASE_S
    assert [r.key for r in await store.lease_due("other", 1.0, 10)] == [unknown.key, sent.key]
    await store.close()


async def test_another_machines_file_is_refused(path: Path, clock: ManualClock) -> None:
    """Another boot of another machine: nothing is changed, and its own machine goes on with it."""
    (record,) = await fill(path, host(clock))

    with pytest.raises(StoreRefusedError, match="another machine"):
        SqliteOperationStore.open(path, host=host(clock, boot_id="boot-2", host_id="host-2"))
    assert await read(path, host(clock)) == record


async def test_a_moved_file_is_accepted_on_purpose(path: Path, clock: ManualClock) -> None:
    """Its times begin anew, as after a boot, and from then on it belongs to the new machine."""
    (record,) = await fill(path, host(clock))
    there = host(clock, boot_id="boot-2", host_id="host-2")
    store = SqliteOperationStore.open(path, host=there, accept_host=True)
    assert await store.by_key("acme", record.key) == rebase(record, now=clock.monotonic(), lease_s=LEASE_S)
    await store.close()

    assert await read(path, there) is not None
    with pytest.raises(StoreRefusedError):
        SqliteOperationStore.open(path, host=host(clock))


@pytest.mark.parametrize(
    ("boot_id", "host_id"), [("boot-1", "host-2"), ("boot-1", None), ("boot-2", None), ("boot-2", "host-1")]
)
async def test_the_same_machine_is_known_again(
    path: Path, clock: ManualClock, boot_id: str, host_id: str | None
) -> None:
    """Containers of one boot may name the machine differently, or not at all; without a name a boot is a boot."""
    await fill(path, host(clock))

    assert await read(path, host(clock, boot_id=boot_id, host_id=host_id)) is not None


@pytest.mark.parametrize("setting", ["", SEAL_KEY])
async def test_nothing_at_rest_shows_an_argument(path: Path, clock: ManualClock, setting: str) -> None:
    """With a key, neither arguments, request, result nor hold values stand in the file or its log; without, they do."""
    store = SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(setting))
    sent = await drive(store, history("a", State.SENT, clock.monotonic()))
    await drive(store, (claimed("b", clock.monotonic()),))
    log_shows = shows_canary(path.with_name(path.name + "-wal"))
    await store.commit(Change(before=sent, after=fire(sent, Event.DONE, clock.monotonic())))
    await store.close()

    assert log_shows is shows_canary(path) is (setting == "")


async def test_what_is_forgotten_is_gone_from_the_disk(path: Path, clock: ManualClock) -> None:
    """Also without a key: what a tombstone has lost is overwritten, long bodies included."""
    store = SqliteOperationStore.open(path, host=host(clock))
    *_, done = history("a", State.DONE, clock.monotonic())
    long = replace(done, version=1, bodies=replace(done.bodies, result=CANARY.encode() * 10_000))
    await drive(store, (long,))
    await store.forget(retention_s=0.0, operation_id=done.operation_id)
    await store.close()

    assert not shows_canary(path)


async def test_a_missing_key_refuses_to_begin(path: Path, clock: ManualClock) -> None:
    """As long as a record is sealed with it, its key is needed, and named."""
    await fill(path, host(clock), SEAL_KEY)

    for setting in ("", OTHER_KEY):
        with pytest.raises(SealError, match="'k1', which is not configured"):
            SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(setting))


async def test_a_wrong_key_refuses_to_begin(path: Path, clock: ManualClock) -> None:
    """Other bytes under the same id are noticed at once."""
    await fill(path, host(clock), SEAL_KEY)

    with pytest.raises(SealError, match="does not open with key 'k1'"):
        SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse("k1:" + OTHER_KEY[3:]))


async def test_keys_rotate(path: Path, clock: ManualClock) -> None:
    """A new key in front, the old behind it; when nothing sealed with the old one is left, it may go."""
    (old,) = await fill(path, host(clock), SEAL_KEY)
    both = f"{OTHER_KEY},{SEAL_KEY}"
    (new,) = await fill(path, host(clock), both, "b")
    assert await read(path, host(clock), both) == old
    with pytest.raises(SealError, match="'k1'"):
        SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(OTHER_KEY))

    store = SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(both))
    found = fire(old, Event.FOUND_ONE, clock.monotonic())
    await store.commit(Change(before=old, after=found))
    await store.forget(retention_s=0.0, operation_id=old.operation_id)
    await store.close()

    assert await read(path, host(clock), OTHER_KEY, "b") == new


async def test_what_was_stored_before_the_first_key_is_sealed_with_it(path: Path, clock: ManualClock) -> None:
    """The first start with a key seals everything, hold values included; from then on plain texts are refused."""
    (record,) = await fill(path, host(clock))

    assert await read(path, host(clock), SEAL_KEY) == record
    assert not shows_canary(path)
    with pytest.raises(SealError, match="'k1', which is not configured"):
        SqliteOperationStore.open(path, host=host(clock))


async def test_holds_survive_a_new_key(path: Path, clock: ManualClock) -> None:
    """A hold that was taken under one key still keeps others out under the next."""
    store = SqliteOperationStore.open(path, host=host(clock))
    holder = await drive(store, history("a", State.SENT, clock.monotonic()))
    await store.close()
    for setting in (SEAL_KEY, f"{OTHER_KEY},{SEAL_KEY}"):
        store = SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(setting))
        second = claimed(setting[:2], clock.monotonic())
        await drive(store, (second,))
        sent = fire(second, Event.GATE_PASSED, clock.monotonic())

        assert await store.commit(Change(before=second, after=sent)) == HeldBy(holder.holds[0], holder)
        await store.close()
