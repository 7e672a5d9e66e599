"""`docs/operations.md` explains every state that can be asked for, and every settlement."""

import pytest

from docs.operation_states import MEANINGS, SETTLEMENTS, operations_page
from gateway.contract.requests import SettledAs
from gateway.fronts.http.openapi_schemas import schemas
from gateway.fronts.http.questions import STATE_NAMES
from gateway.stages.execute.operation.record import State

ROWS = [line for line in operations_page().splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("state", STATE_NAMES)
def test_every_state_that_can_be_asked_for_is_explained(state: str) -> None:
    """What it means, what it may become, and what an operator may say of it."""
    (row,) = (row for row in ROWS if row.startswith(f"| `{state}` | {MEANINGS[State(state)]}"))

    assert row.count(" | ") == 3


def test_what_a_person_can_say_of_a_state_is_what_the_table_takes() -> None:
    """An unknown ends in any of three ways; while somebody listens only in one; what is settled stands."""
    said = {row.split("`")[1]: row.rsplit(" | ", 1)[1] for row in ROWS}

    assert said["unknown"] == said["frozen"] == "`executed`, `not_executed`, `refused` |"
    assert said["unknown_listening"] == "`executed` |"
    assert {said[state] for state in ("free", "claimed", "sent", "done")} == {"- |"}


def test_every_member_of_a_settlement_is_explained() -> None:
    """As the OpenAPI document has them, with all that `settled_as` may be."""
    members = schemas()["SettleRequest"]["properties"]

    assert [name for name in members if not any(row.startswith(f"| `{name}` | ") for row in ROWS)] == []
    assert set(SETTLEMENTS) == set(SettledAs)
