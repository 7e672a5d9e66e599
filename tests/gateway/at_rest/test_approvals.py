"""Approvals at rest: what goes in comes out, and what tells the action is sealed."""

from dataclasses import fields, replace

import orjson
import pytest

from gateway.at_rest.approvals import decode, head_text, sealed_text
from gateway.at_rest.sealing import Sealer, SealError
from gateway.contract.call import Token
from gateway.stages.execute.approval.record import Approval, Decision, Status
from tests.conformance.stores import SEAL_KEY
from tests.gateway.stages.execute.approval.samples import asked, in_status

SEALER = Sealer.parse(SEAL_KEY)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("sealer", [SEALER, Sealer()], ids=["sealed", "plain"])
def test_what_goes_in_comes_out(status: Status, sealer: Sealer) -> None:
    """In every status, sealed or not."""
    approval = in_status(status, repeats="op-0", traceparent="00-a", arguments={"n": [1, 2.5, None, {"ü": True}]})
    assert decode(head_text(approval), sealed_text(approval, sealer), sealer) == approval


def test_what_an_approver_came_with_comes_out() -> None:
    """An API key, a token, neither; and what a version without tokens wrote."""
    token = Token(issuer="i", audience=("a", "b"), kid="k", algorithm="ES256", thumbprint="t", grants={"p": ("v", "w")})
    by_key, by_token = Decision(by="lead", wall=1.0, key_id="k1"), Decision(by="lead", wall=1.0, token=token)
    for decision in (by_key, by_token, Decision(by="lead", wall=1.0)):
        approval = replace(in_status(Status.APPROVED), decision=decision)
        assert decode(head_text(approval), sealed_text(approval, SEALER), SEALER) == approval

    approval = replace(in_status(Status.APPROVED), decision=by_key)
    name = f"approval:{approval.approval_id}"
    told = orjson.loads(SEALER.open(sealed_text(approval, SEALER), bound_to=name))
    del told["decision"]["token"]
    before = SEALER.seal(orjson.dumps(told), bound_to=name)
    assert decode(head_text(approval), before, SEALER) == approval


def test_every_field_is_kept_in_one_of_the_two_texts() -> None:
    """A new field that is kept in neither would be lost."""
    head = set(orjson.loads(head_text(asked())))
    assert head | {"arguments", "reasons", "decision"} == {field.name for field in fields(Approval)}


def test_arguments_reasons_and_the_decision_are_not_to_be_read() -> None:
    """Neither text shows them to who has the file and no key."""
    approval = in_status(Status.APPROVED, arguments={"card": "canary-1"}, reasons=("canary-2",))
    stored = head_text(approval) + sealed_text(approval, SEALER)
    for canary in (b"canary-1", b"canary-2", b"checked", b"lead"):
        assert canary not in stored


def test_a_text_of_another_approval_does_not_open() -> None:
    """Nor one that was sealed with another key."""
    one, other = asked(), asked(approval_id="ap-2")
    with pytest.raises(SealError):
        decode(head_text(other), sealed_text(one, SEALER), SEALER)
    with pytest.raises(SealError):
        decode(head_text(one), sealed_text(one, SEALER), Sealer.parse("k1:" + "QkJC" * 10 + "QkI="))


def test_what_is_no_json_is_refused() -> None:
    """Before anything is written."""
    with pytest.raises(TypeError):
        sealed_text(replace(asked(), arguments={"a": object()}), Sealer())
