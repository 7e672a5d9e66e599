"""An answer that a look-up found while its caller was held."""

from pathlib import Path

from tests.gateway.pipeline.provider import acts_then, cut
from tests.gateway.pipeline.rig import looked_up
from tests.wire_codes.stand import standing


async def test_what_a_look_up_found_has_a_row_of_its_own(tmp_path: Path) -> None:
    """One row for the envelope, beside the one for the settlement."""
    async with standing(tmp_path, looked_up({"reconcile.inline": "1s", "timeouts.read": "1s"})) as stand:
        stand.provider.writes.append(acts_then(cut))
        found = await stand.call()
        rows = (await stand.get("/v1/executions")).envelope["data"]["executions"]

        assert found.envelope["ok"], found.envelope
        mine = [row for row in rows if row["operation_id"] == found.operation_id]
        assert sorted((row["kind"], row["outcome"]) for row in mine) == [("call", "ok"), ("settlement", "ok")]
        assert len(stand.provider.acts) == 1
