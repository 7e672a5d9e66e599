"""`oncegate approvals`."""

import json

from gateway.cli.approvals import command
from gateway.contract.requests import ApprovalQuery, DecisionRequest
from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.fake_core import CALLER
from tests.gateway.fronts.http.served import Served


async def test_approvals_are_asked_for_by_condition(served: Served) -> None:
    """Every filter goes to the gateway; nothing found is said in words."""
    filters = ["--state", "pending", "--run", "r", "--tool", "t", "--limit", "5"]
    result = await run_against(served, "approvals", "list", *filters)

    query = ApprovalQuery(statuses=frozenset({"pending"}), run_id="r", tool="t", limit=5)
    assert served.core.asked == [(query, CALLER)]
    assert result.stdout == "No approvals.\n"


async def test_one_approval_is_shown(served: Served) -> None:
    """Its fields are printed; another one is a no."""
    shown = await run_against(served, "approvals", "show", "01JAP")
    missing = await run_against(served, "approvals", "show", "01JXX")

    assert shown.stdout.split() == ["approval_id", "01JAP"]
    assert (missing.exit_code, missing.stderr.startswith("error: approval_not_found")) == (1, True)


async def test_a_decision_is_one_word(served: Served) -> None:
    """Approve or deny, with or without a note."""
    yes = await run_against(served, "approvals", "approve", "01JAP", "--note", "seen", "--json")
    no = await run_against(served, "approvals", "deny", "01JAP")

    assert json.loads(yes.stdout)["data"] == {"approval_id": "01JAP"}
    assert no.exit_code == 0
    assert served.core.asked == [
        ("01JAP", DecisionRequest(approve=True, note="seen"), CALLER),
        ("01JAP", DecisionRequest(approve=False), CALLER),
    ]


def test_there_is_a_command_for_each_thing_to_do() -> None:
    """List, show, approve, deny."""
    assert sorted(command.commands) == ["approve", "deny", "list", "show"]
