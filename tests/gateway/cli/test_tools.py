"""`oncegate tools`."""

import json
from typing import Any

import pytest

from gateway.cli.tools import _list
from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.fake_core import OPERATOR_TOKEN, REFUND
from tests.gateway.fronts.http.served import Served


async def test_tools_are_listed_in_a_table(served: Served) -> None:
    """One line a tool; nothing to use is said in words."""
    mine = await run_against(served, "tools")
    none = await run_against(served, "tools", key=OPERATOR_TOKEN)

    assert mine.stdout.splitlines()[1].split()[:4] == ["issue_refund", "1.2.0", "write", "ready"]
    assert none.stdout == "This key may use no tool.\n"


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({}, "ready"),
        ({"deprecated": {"since": "2"}}, "deprecated"),
        ({"deprecated": {}, "quarantined": True}, "quarantined"),
    ],
)
def test_the_state_of_a_tool_is_told(entry: dict[str, Any], state: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is not called now is seen at a glance."""
    _list({"tools": [{"name": "a", "version": "1", "effect": "read", "title": "A", **entry}]})
    assert capsys.readouterr().out.splitlines()[1].split()[3] == state


async def test_one_tool_is_shown_whole(served: Served) -> None:
    """With a name: the catalogue entry."""
    shown = await run_against(served, "tools", "issue_refund")
    missing = await run_against(served, "tools", "nope")

    assert json.loads(shown.stdout) == REFUND.to_dict()
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "no tool is named nope." in missing.stderr
    assert "issue_refund" in missing.stderr
