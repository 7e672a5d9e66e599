"""Approvals in the file: through indexes, sealed, and brought along when a seal key comes."""

# ruff: noqa: S608 - what is put into the statements are constants of the module under test

from pathlib import Path
from typing import Final

import apsw
import pytest

from gateway.adapters.sqlite import approvals
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.at_rest.sealing import Sealer, SealError
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalFilter
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import Applied, Change
from tests.conformance.stores import SEAL_KEY
from tests.gateway.stages.execute.approval.samples import asked

OTHER_KEY: Final = "k2:" + "QkJC" * 10 + "QkI="


async def kept(path: Path, seal: str = "") -> Approval:
    """A file with one approval in it."""
    store = SqliteOperationStore.open(path, sealer=Sealer.parse(seal))
    assert await store.commit(Change(approval=ApprovalChange(before=None, after=asked()))) == Applied()
    await store.close()
    return asked()


async def found(path: Path, seal: str) -> Approval | None:
    """It, read with these keys."""
    store = SqliteOperationStore.open(path, sealer=Sealer.parse(seal))
    try:
        return await store.approval("acme", "ap-1")
    finally:
        await store.close()


async def test_what_was_stored_before_there_was_a_key_is_sealed(tmp_path: Path) -> None:
    """From the first start with a key on; the file then tells nobody."""
    path = tmp_path / "records.db"
    approval = await kept(path)
    assert await found(path, SEAL_KEY) == approval
    with apsw.Connection(str(path)) as connection:
        [(mark,)] = connection.execute("SELECT hex(substr(sealed, 1, 1)) FROM approvals").fetchall()
    assert mark == "01"


async def test_a_key_that_approvals_need_may_not_be_missing(tmp_path: Path) -> None:
    """Also where no record is sealed with it; as an older key it still opens."""
    path = tmp_path / "records.db"
    approval = await kept(path, SEAL_KEY)
    with pytest.raises(SealError):
        SqliteOperationStore.open(path, sealer=Sealer.parse(OTHER_KEY))
    assert await found(path, f"{OTHER_KEY},{SEAL_KEY}") == approval


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (f"SELECT 1 FROM approvals WHERE tenant = 'a' AND action_hash = 'x' AND {approvals._LIVE}", "approvals_live"),
        (
            f"SELECT 1 FROM approvals WHERE expires_wall <= 1 AND {approvals._LIVE} ORDER BY expires_wall",
            "approvals_lapsing",
        ),
        ("SELECT 1 FROM approvals WHERE ended_wall IS NOT NULL AND ended_wall <= 1", "approvals_ended"),
        ("SELECT 1 FROM approvals WHERE action_hash = 'x' AND tenant = 'a' ORDER BY rowid DESC", "approvals_by_action"),
    ],
)
async def test_no_question_walks_over_all(tmp_path: Path, sql: str, index: str) -> None:
    """Each that calls or the sweeper ask has its index."""
    path = tmp_path / "records.db"
    await kept(path)
    with apsw.Connection(str(path)) as connection:
        plan = " ".join(str(row) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}"))
    assert index in plan, plan


async def test_a_list_binds_what_it_is_asked_for(tmp_path: Path) -> None:
    """A value with a quote in it is a value."""
    path = tmp_path / "records.db"
    await kept(path)
    store = SqliteOperationStore.open(path)
    nasty = "x' OR '1'='1"
    query = ApprovalFilter(tenant="acme", subject=nasty, permissions=frozenset({nasty}), tool=nasty)
    assert await store.list_approvals(query) == ()
    await store.close()
