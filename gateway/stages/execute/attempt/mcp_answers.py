"""What an answer in the Model Context Protocol proves about a write, before the manifest has its say.

A result is done. A result with `isError` proves nothing by itself: the protocol has one mark for "refused", "failed half
way" and "done, and the receipt could not be printed". Nor does a JSON-RPC error, whatever its code: servers say "invalid
params" also of a result that fails their own check, after the tool has acted, and pass on the code of whatever a tool throws. Nor does
the loss of a session: what balances the load may have given the call to a server that acted and died, and then to another, which
does not know the session.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, assert_never

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Effect, StatusMeaning
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.exchange import Answer, Said
from gateway.stages.execute.attempt.statuses import StatusRow, status_row

_C, _M = ErrorCode, StatusMeaning
UNSUPPORTED_VERSION: Final = -32022


def _refused(code: ErrorCode) -> StatusRow:
    return StatusRow(_M.REFUSED, code, if_refused=code)


_DONE: Final = StatusRow(_M.DONE, None)
_FAILED: Final = StatusRow(_M.UNKNOWN, _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME, if_refused=_C.REJECTED)
_NO_SESSION: Final = StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, if_refused=_C.UNAVAILABLE)
_UNFINISHED: Final = StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, if_refused=_C.UNSUPPORTED, if_read=_C.UNSUPPORTED)

RPC_ERRORS: Final[Mapping[int, StatusRow]] = MappingProxyType(
    {
        -32700: _refused(_C.UNSUPPORTED),
        -32600: _refused(_C.UNSUPPORTED),
        -32601: _refused(_C.UNSUPPORTED),
        -32602: _refused(_C.REJECTED),
        # Header and body disagree; a capability is missing.
        -32020: _refused(_C.UNSUPPORTED),
        -32021: _refused(_C.UNSUPPORTED),
        # It speaks another revision now; the next attempt asks which.
        UNSUPPORTED_VERSION: StatusRow(_M.REFUSED_RETRYABLE, _C.UNSUPPORTED, if_refused=_C.UNSUPPORTED),
    }
)
"""Codes that are meant to say that the message was not accepted. For a read that is enough; of a write they prove nothing."""


def mcp_row(answer: Answer, said: Said, terms: McpUpstream, effect: Effect) -> StatusRow:
    """What one answer proves, by the tables and by the manifest's word."""
    match said:
        case Said.RESULT:
            return _DONE
        case Said.TOOL_ERROR:
            return _declared(_FAILED, _for_read(terms.is_error, effect))
        case Said.RPC_ERROR:
            return _of_error(answer, terms, effect)
        case Said.NO_SESSION:
            return _of_a_lost_session(answer, terms, effect)
        case Said.UNFINISHED:
            return _UNFINISHED
        case Said.CUT:
            # Only a read comes here: what a write's lost answer proves is the fault's to say, and that is nothing.
            return _DONE
        case _:
            assert_never(said)


def _for_read(meaning: StatusMeaning, effect: Effect) -> StatusMeaning:
    """A read that the tool answers with an error is answered: nothing is in doubt, and asking again helps little."""
    return _M.REFUSED if effect is Effect.READ and meaning is _M.UNKNOWN else meaning


def _of_error(answer: Answer, terms: McpUpstream, effect: Effect) -> StatusRow:
    code = answer.rpc_code if answer.rpc_code is not None else 0
    row = RPC_ERRORS.get(code, _FAILED)
    if effect is not Effect.READ:
        row = _of_a_write(row, answer)
    elif answer.status >= 400 and row.meaning is not _M.UNKNOWN:
        # With a failing status, what stands before the tool may have spoken: the weaker of the two counts.
        by_status = status_row(answer.status)
        row = by_status if by_status.meaning is _M.UNKNOWN else row
    declared = terms.errors.get(code)
    return row if declared is None else _declared(row, declared)


def _of_a_lost_session(answer: Answer, terms: McpUpstream, effect: Effect) -> StatusRow:
    declared = None if answer.rpc_code is None else terms.errors.get(answer.rpc_code)
    by_itself = _M.REFUSED_RETRYABLE if effect is Effect.READ else _M.UNKNOWN
    return _declared(_NO_SESSION, by_itself if declared is None else declared)


def _of_a_write(row: StatusRow, answer: Answer) -> StatusRow:
    """An error that names the request may come from behind the tool. One that names none is worth what its status is."""
    if answer.unaddressed and answer.status >= 400:
        return status_row(answer.status)
    return replace(row, meaning=_M.UNKNOWN, code=_FAILED.code)


def _declared(row: StatusRow, meaning: StatusMeaning) -> StatusRow:
    return row if meaning is row.meaning else replace(row, meaning=meaning, code=None)
