"""`oncegate prepare`."""

import json

from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.served import Served


async def test_prepare_prints_what_a_loop_would_save(served: Served) -> None:
    """The call goes to `prepare`, and its fields are printed, as text or as the envelope."""
    text = await run_against(served, "prepare", "issue_refund", "order_id=ORD-1")
    document = await run_against(served, "prepare", "issue_refund", "--json")

    assert served.core.asked[0][0] == "prepare"
    assert served.core.asked[0][1].arguments == {"order_id": "ORD-1"}
    assert text.stdout.split() == ["operation_key", "k"]
    assert json.loads(document.stdout)["data"] == {"operation_key": "k"}
