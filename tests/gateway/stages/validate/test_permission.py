"""Default deny."""

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.stages.validate.permission import permit
from gateway.stages.validate.verdict import Rejected
from tests.gateway.manifest.sample import KEYED, compiled

TOOL = compiled(KEYED)


@pytest.mark.parametrize(
    "permissions", [frozenset(), {"things:read"}, {"*"}, {"things"}, {"things:*"}, {"THINGS:WRITE"}]
)
def test_whoever_does_not_hold_the_permission_may_not(permissions: frozenset[str]) -> None:
    """No wildcards, no inheritance, no other spelling; the refusal names the permission."""
    caller = Caller(subject="ana", tenant="acme", permissions=frozenset(permissions))

    assert permit(TOOL, caller) == Rejected(tool=TOOL, code=ErrorCode.FORBIDDEN, permission="things:write")


def test_whoever_holds_it_may() -> None:
    """Exactly the manifest's permission."""
    assert permit(TOOL, Caller(subject="ana", tenant="acme", permissions=frozenset({"things:write", "x"}))) is None
