"""One send, and an envelope in any case: where none came, one of ours says so and proves no more than it may."""

from typing import Final

from agent_client.backoff import READ_BOUNDS_S
from agent_client.ports import GatewayUnreachable
from agent_client.run import Run
from agent_client.waiting import within
from agent_client.wire import CallRequest
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail

_UNANSWERED: Final = "no gateway answered"


async def ask_to_write(run: Run, request: CallRequest) -> Envelope:
    """Send a write. It is never given up by us: only the gateway knows whether it was sent on.

    It is sent again only while nothing of it can have reached a gateway.
    """
    for bound_s in (*READ_BOUNDS_S, None):
        try:
            return await run.gateway.call(request)
        except GatewayUnreachable as away:
            envelope = _no_answer(request, away)
            if not away.never_sent or bound_s is None:
                return envelope
        await run.pause(bound_s)
    raise AssertionError  # the last bound is None


async def ask_to_read(run: Run, request: CallRequest) -> Envelope:
    """Send a read once, for so long as a read may take."""
    patience = min(run.state.limits.read_seconds, max(0.0, run.recorder.remaining_s))
    try:
        return await within(run.clock, patience, run.gateway.call(request))
    except GatewayUnreachable as away:
        return _no_answer(request, away)
    except TimeoutError:
        # The gateway is there; it is the tool that is slow, and the model may know another way.
        meta = Meta(request_id=request.request_id, tool=request.tool, run_id=request.run_id)
        return fail(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, meta, message=f"No answer to the read within {patience:.1f} s.")


def unanswered(envelope: Envelope) -> bool:
    """No gateway wrote it."""
    return _UNANSWERED in envelope.meta.warnings


def _no_answer(request: CallRequest, away: GatewayUnreachable) -> Envelope:
    if away.never_sent:
        return _ours(ErrorCode.CONNECT_FAILED, request, "The gateway could not be reached: nothing was delivered.")
    text = "The connection to the gateway ended without an answer. The action MAY have been carried out."
    return _ours(ErrorCode.OUTCOME_UNKNOWN, request, text)


def _ours(code: ErrorCode, request: CallRequest, message: str) -> Envelope:
    meta = Meta(request_id=request.request_id, tool=request.tool, run_id=request.run_id, warnings=(_UNANSWERED,))
    return fail(code, meta, message=message)
