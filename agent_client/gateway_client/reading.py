"""From what was heard to an envelope. Only an envelope of the contract is one; anything else is told as what it is."""

from collections.abc import Mapping
from typing import Any, Final

from agent_client.gateway_client.asking import Ask
from agent_client.gateway_client.heard import SILENCES, Answer, Heard, Silence
from agent_client.ports import GatewayUnreachable
from agent_client.strict_json import read_strictly
from gateway.contract.codes import CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Envelope, parse_envelope

# A gateway newer than this client may have codes that it does not know. What they mean for the caller they say.
_NEAREST: Final[Mapping[str, ErrorCode]] = {
    CallOutcome.NOT_EXECUTED.value: ErrorCode.GATEWAY_ERROR,
    CallOutcome.EXECUTED.value: ErrorCode.DONE_RESULT_ELSEWHERE,
    CallOutcome.UNKNOWN.value: ErrorCode.OUTCOME_UNKNOWN,
}


class NotAnEnvelope(GatewayUnreachable):  # named as its base
    """Something answered that is no gateway of this contract, or not in its words: a proxy's page, another service.

    Whether the request reached a gateway on the way is not known. The message holds no text of the answer.

    Attributes:
        status: of the HTTP answer.
        retry_after_s: what the answer's header asks for.
    """

    def __init__(self, message: str, *, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(message, never_sent=False)
        self.status = status
        self.retry_after_s = retry_after_s


def read(ask: Ask, heard: Heard) -> Envelope:
    """The gateway's answer to `ask`.

    Raises:
        GatewayUnreachable: nothing came.
        NotAnEnvelope: something else came, or its status, its tool and its words contradict each other.
    """
    if isinstance(heard, Silence):
        known = SILENCES[heard]
        raise GatewayUnreachable(known.sentence, never_sent=known.never_sent)
    try:
        return _parse(heard, ask.tool)
    except _ContradictionError as reason:
        kind = heard.content_type or "no content type"
        message = f"the answer with status {heard.status} ({kind}) is not an envelope: {reason}"
        raise NotAnEnvelope(message, status=heard.status, retry_after_s=heard.retry_after_s) from None


class _ContradictionError(ValueError):
    pass


def _parse(answer: Answer, tool: str | None) -> Envelope:
    try:
        document = read_strictly(answer.body)
    except (ValueError, RecursionError):
        raise _ContradictionError("its body is not JSON") from None
    if not isinstance(document, dict) or not {"ok", "data", "error", "meta"} <= document.keys():
        raise _ContradictionError("its body has not the members ok, data, error and meta")
    try:
        envelope = parse_envelope(_known(document))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _ContradictionError("its members are not those of the contract") from None
    if envelope.ok is not (200 <= answer.status < 300):
        raise _ContradictionError("its status says another thing than its body")
    if tool is not None and envelope.meta.tool not in (None, tool):
        raise _ContradictionError("it answers for another tool")
    return envelope


def _known(document: dict[str, Any]) -> dict[str, Any]:
    """The document, its error in the words that this client knows."""
    error = document["error"]
    if error is None:
        return document
    known = dict(error)
    if known["code"] not in tuple(ErrorCode):
        known["details"] = {**known["details"], "newer_code": known["code"]}
        known["code"] = _NEAREST[known["outcome"]]
    if known["next_action"] not in tuple(NextAction):
        known["next_action"] = NextAction.ESCALATE.value
    seconds = known["retry_after_s"]
    if (
        not isinstance(known["message"], str)
        or not isinstance(known["retryable"], bool)
        or not isinstance(known["details"], dict)
        or not (seconds is None or (type(seconds) in (int, float) and seconds >= 0))
    ):
        raise TypeError("a member of error has another type than the contract's")
    return {**document, "error": known}
