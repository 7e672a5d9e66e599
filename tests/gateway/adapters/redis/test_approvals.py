"""Approvals as scripts take them."""

from typing import Any

import orjson
import pytest

from gateway.adapters.redis.approvals import decode, move_values
from gateway.adapters.redis.records import ForeignRecordError
from gateway.adapters.redis.scripts import clock_text, script
from gateway.at_rest.approvals import head_text, sealed_text
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.ports import ApprovalChange
from tests.gateway.stages.execute.approval.samples import YES, asked

PLAIN = Sealer()


def values(change: ApprovalChange) -> tuple[Any, ...]:
    """Fourteen, as `approval.lua` says."""
    found = move_values(change, PLAIN)
    assert len(found) == 14
    return found


def test_a_new_one_has_no_version_before() -> None:
    """And what scripts look at stands beside the two texts."""
    told = values(ApprovalChange(before=None, after=asked(run_id=None)))
    assert told[:12] == (
        "ap-1", "", 1, asked().action_hash, "pending", "2000.0", "", "agent", "refunds:approve", "", "refund", "",
    )  # fmt: skip
    assert orjson.loads(told[12])["approval_id"] == "ap-1"


def test_a_move_names_the_version_that_it_is_made_from() -> None:
    """One that ends says when."""
    denied = machine.deny(asked(), YES)
    told = values(ApprovalChange(before=asked(), after=denied))
    assert (told[1], told[2], told[4], told[6]) == (1, 2, "denied", "1100.0")


def test_what_was_not_asked_for_is_shown_to_nobody() -> None:
    """Nothing is none; another tenant's is an error."""
    fields = (head_text(asked()), sealed_text(asked(), PLAIN))
    assert decode(fields, "acme", PLAIN) == asked()
    assert decode((None, None), "acme", PLAIN) is None
    with pytest.raises(ForeignRecordError):
        decode(fields, "other", PLAIN)


def test_only_scripts_that_move_approvals_carry_their_head() -> None:
    """The others are as short as before."""
    for name, carries in (("commit", True), ("approve", True), ("look", False), ("approved", False)):
        assert ("local function overtaken" in script(name, clock_text()).text) is carries
