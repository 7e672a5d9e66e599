"""Must a person allow this call? What the manifest's `approval.when` says to it."""

from gateway.contract.codes import ErrorCode
from gateway.manifest.ports import EvaluationError
from gateway.manifest.tool import ApprovalTerms
from gateway.stages.validate.rules import Facts, call_values, missing_attributes, sentence
from gateway.stages.validate.verdict import Asking, Denied


def ask(terms: ApprovalTerms, facts: Facts) -> Asking | Denied | None:
    """A person must; nobody can say, which refuses; or nobody needs to.

    Whatever is not a clear no asks: a condition without a value is never taken for one.
    """
    if terms.when is None:
        return None
    verdict = True if terms.when is True else terms.when.evaluate(call_values(facts))
    if isinstance(verdict, EvaluationError):
        missing = missing_attributes(terms.when_attributes, facts.caller)
        told = ", ".join(f"attributes.{name}" for name in missing)
        return Denied(
            code=ErrorCode.RULE_ERROR,
            reason=f"this caller has no {told}" if missing else "whether a person must approve cannot be told",
            details={"rule": {"section": "approval"}},
        )
    return None if verdict is False else Asking(reasons=(sentence(terms.reason, facts),))
