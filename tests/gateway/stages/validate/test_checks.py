"""The order of the checks."""

import pytest

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.manifest.catalog import Catalogue
from gateway.stages.validate.checks import CHECKS, validate
from gateway.stages.validate.verdict import Accepted, Rejected
from tests.gateway.manifest.sample import KEYED, compiled

TOOL = compiled(KEYED)
CATALOGUE = Catalogue.of([TOOL])
MAY = Caller(subject="ana", tenant="acme", permissions=frozenset({"things:write"}))
MAY_NOT = Caller(subject="bob", tenant="acme")


@pytest.mark.parametrize(
    ("tool", "arguments", "caller", "code"),
    [
        ("nope", {}, MAY_NOT, ErrorCode.UNKNOWN_TOOL),
        ("act", {}, MAY_NOT, ErrorCode.MISSING_ARGUMENTS),
        ("act", {"order": "A", "amount": 0}, MAY_NOT, ErrorCode.INVALID_ARGUMENTS),
        ("act", {"order": "A", "amount": 1}, MAY_NOT, ErrorCode.FORBIDDEN),
    ],
)
def test_the_cheapest_refusal_comes_first(
    tool: str, arguments: dict[str, object], caller: Caller, code: ErrorCode
) -> None:
    """Exists, complete, valid, permitted."""
    verdict = validate(ToolCall(tool=tool, arguments=arguments), caller, CATALOGUE)
    assert isinstance(verdict, Rejected)

    assert verdict.code is code


def test_a_call_that_passes_has_its_final_arguments() -> None:
    """The verdict carries what everything after it works with."""
    verdict = validate(ToolCall(tool="act", arguments={"order": " a ", "amount": 1}), MAY, CATALOGUE)

    assert verdict == Accepted(tool=TOOL, args={"order": "A", "amount": 1, "urgent": False})
    assert len(CHECKS) == 2
