"""What one exchange proves: the phase first, then the status, then what the manifest knows better."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self, assert_never

from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick
from gateway.contract.strict_json import InvalidJson, loads
from gateway.manifest.policies import DownstreamKey, Effect, StatusMeaning
from gateway.manifest.ports import Expression
from gateway.manifest.tool import McpUpstream, Tool
from gateway.stages.execute.attempt import faults
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Phase, Said
from gateway.stages.execute.attempt.mcp_answers import mcp_row
from gateway.stages.execute.attempt.outcome import Done, Outcome, Refused, Unknown
from gateway.stages.execute.attempt.retry_after import parse_retry_after
from gateway.stages.execute.attempt.statuses import StatusRow, status_row

# An earlier attempt of our own may have caused them: it deleted the object, moved its ETag, took its place.
OUR_OWN_DOING: Final = frozenset({404, 409, 410, 412})


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTerms:
    """What a manifest says about its downstream's answers.

    Attributes:
        statuses: what single statuses prove, over the table.
        already_done: statuses that mean done, but only after an unknown attempt of the same operation.
        refused_when: over `data`, the body of a success: whether it says that nothing was done.
        key: the downstream's idempotency contract; None for a tool that has none.
        mcp: the upstream, for a tool of an MCP server.
    """

    effect: Effect
    statuses: Mapping[int, StatusMeaning] = field(default_factory=dict)
    already_done: frozenset[int] = frozenset()
    refused_when: Expression | None = None
    key: DownstreamKey | None = None
    mcp: McpUpstream | None = None

    @classmethod
    def of(cls, tool: Tool) -> Self:
        return cls(
            effect=tool.effect,
            statuses=tool.backend.statuses,
            already_done=tool.backend.already_done,
            refused_when=tool.backend.refused_when,
            key=tool.downstream_key,
            mcp=tool.backend.mcp,
        )


def classify(
    exchange: Exchange, terms: AnswerTerms, *, wall: float, sends: int = 1, after_unknown: bool = False
) -> Outcome:
    """What is known after `exchange`.

    Args:
        exchange: how the attempt ended.
        terms: the manifest's word on the downstream.
        wall: seconds since 1970, for a Retry-After that names a date.
        sends: attempts of this operation whose bytes may have left, this one included.
        after_unknown: whether an earlier attempt of this operation ended Unknown.
    """
    if exchange.phase < Phase.SENT:
        return faults.not_sent(exchange.fault)
    answer = exchange.answer
    if answer is None or exchange.phase < Phase.HEADERS:
        return faults.unknown(exchange.fault, read=terms.effect is Effect.READ)
    if answer.said is Said.CUT and terms.effect is not Effect.READ:
        # The status of a message that nobody has read says that there was to be one, and not what it would have said.
        return faults.unknown(exchange.fault, read=False)
    replayed = _is_replay(answer, terms)
    if after_unknown and answer.status in terms.already_done:
        # What came is the error of a second delete, not the result of the first.
        return Done(status=answer.status, answer=replace(answer, body=b""), replayed=replayed)
    row = _by_its_body(_reading(exchange, answer, terms, replayed=replayed), exchange, answer, terms)
    if row.meaning is StatusMeaning.DONE:
        return _done(answer, faults.result_code(exchange.fault, row.code), replayed=replayed)
    retry_after_s = parse_retry_after(header(answer, "retry-after"), wall=wall)
    match row.meaning:
        case StatusMeaning.UNKNOWN:
            code = row.if_read if terms.effect is Effect.READ else row.code or ErrorCode.OUTCOME_UNKNOWN
            # Who does not know the session gives no answer of the tool's: that one is lost, as on a connection that broke.
            status = None if answer.said is Said.NO_SESSION else answer.status
            return Unknown(code=code, status=status, retry_after_s=retry_after_s)
        case StatusMeaning.REFUSED | StatusMeaning.REFUSED_RETRYABLE:
            if not replayed and _may_be_our_own_doing(answer, terms, sends=sends, after_unknown=after_unknown):
                return Unknown(code=ErrorCode.OUTCOME_UNKNOWN, status=answer.status, retry_after_s=retry_after_s)
            return Refused(
                code=row.if_refused,
                status=answer.status,
                retryable=row.meaning is StatusMeaning.REFUSED_RETRYABLE,
                retry_after_s=retry_after_s,
                answer=answer,
                replayed=replayed,
                key_used=not replayed and _says_key_used(answer.status, terms),
            )
        case _:
            assert_never(row.meaning)


def header(answer: Answer, name: str) -> str | None:
    """The first value of a header, by its lower-case name."""
    return next((value for found, value in answer.headers if found == name), None)


def _reading(exchange: Exchange, answer: Answer, terms: AnswerTerms, *, replayed: bool) -> StatusRow:
    if answer.said is not None and terms.mcp is not None:
        return mcp_row(answer, answer.said, terms.mcp, terms.effect)
    row = status_row(answer.status)
    declared = terms.statuses.get(answer.status)
    if declared is not None:
        return row if declared is row.meaning else replace(row, meaning=declared, code=None)
    if terms.key is not None and answer.status == terms.key.in_progress_status and not replayed:
        return replace(row, meaning=StatusMeaning.UNKNOWN, code=ErrorCode.IN_FLIGHT_DOWNSTREAM)
    if answer.status == 408 and not exchange.written and not exchange.reused:
        # The service had not got the whole request, and says so. On a connection that lay idle the 408 may be about
        # the idleness; after a whole request it contradicts what we know. Neither is then believed.
        return replace(row, meaning=StatusMeaning.REFUSED_RETRYABLE)
    if terms.effect is Effect.READ and row.if_refused is ErrorCode.REDIRECT_REFUSED:
        return replace(row, meaning=StatusMeaning.REFUSED)
    return row


def _by_its_body(row: StatusRow, exchange: Exchange, answer: Answer, terms: AnswerTerms) -> StatusRow:
    """A success may say no in its body, where the manifest knows how. A body that cannot be asked says neither."""
    if terms.refused_when is None or row.meaning is not StatusMeaning.DONE:
        return row
    whole = faults.body_is_whole(
        Done(status=answer.status, answer=answer, code=faults.result_code(exchange.fault, row.code))
    )
    try:
        data = loads(answer.body, max_bytes=len(answer.body)) if whole and answer.body else None
    except InvalidJson:
        whole = False
    said = terms.refused_when.evaluate({"data": data}) if whole else None
    if said is False or (said is not True and terms.effect is Effect.READ):
        return row
    return replace(row, meaning=StatusMeaning.REFUSED if said is True else StatusMeaning.UNKNOWN)


def _may_be_our_own_doing(answer: Answer, terms: AnswerTerms, *, sends: int, after_unknown: bool) -> bool:
    if terms.effect is Effect.READ:
        return False
    status = answer.status
    if answer.said is not None and not answer.unaddressed:
        # Of a message the status says nothing; a tool that fails may fail because it has done this already.
        return answer.said in {Said.TOOL_ERROR, Said.RPC_ERROR} and (sends > 1 or after_unknown)
    says_no_by_its_body = terms.refused_when is not None and status_row(status).meaning is StatusMeaning.DONE
    if status in OUR_OWN_DOING or says_no_by_its_body:
        return sends > 1 or after_unknown
    # "This key was used with another body" admits that the key was used.
    return after_unknown and _says_key_used(status, terms)


def _says_key_used(status: int, terms: AnswerTerms) -> bool:
    return terms.key is not None and status == terms.key.mismatch_status


def _is_replay(answer: Answer, terms: AnswerTerms) -> bool:
    if terms.key is None or terms.key.replay_marker is None:
        return False
    name, value = terms.key.replay_marker
    return any(found == name.lower() and given.lower() == value.lower() for found, given in answer.headers)


def _done(answer: Answer, code: str | None, *, replayed: bool) -> Done:
    done = Done(status=answer.status, answer=answer, code=code, replayed=replayed, pending=answer.status == 202)
    return done if faults.body_is_whole(done) else replace(done, answer=replace(answer, body=b""))
