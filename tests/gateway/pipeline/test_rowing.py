"""The row of an envelope that changed no record: grouped, at once, or later."""

from typing import Any

from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import read
from tests.gateway.pipeline.trouble import Wire, rows_alone


async def test_a_synchronous_row_is_there_with_the_answer(rig: MakeRig) -> None:
    """By the manifest's word; a grouped one follows."""
    gateway = await rig(read({"rows": "sync"}))
    await gateway.call(tool="get_status")
    assert len(await gateway.rows()) == 1


async def test_the_operator_may_want_every_row_at_once(rig: MakeRig) -> None:
    """Whatever manifests say."""
    gateway = await rig(read(), settings={"rows": "sync"})
    await gateway.call(tool="get_status")
    assert len(await gateway.rows()) == 1


async def test_a_row_that_the_store_does_not_take_comes_later(rig: MakeRig) -> None:
    """The caller has its answer, and the row is kept once."""
    wires: list[Wire] = []

    def wrap(store: Any) -> Any:
        wires.append(Wire(store))
        return wires[0]

    gateway = await rig(read({"rows": "sync"}), wrap=wrap)
    wires[0].loses = rows_alone
    assert (await gateway.call(tool="get_status")).ok
    wires[0].loses = None
    assert [row.tool for row in await gateway.rows(1)] == ["get_status"]
