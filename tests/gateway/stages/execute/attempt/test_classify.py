"""What one exchange proves: phase by phase, and status by status."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.manifest.policies import DownstreamKey, Effect, KeyPlace, StatusMeaning
from gateway.stages.execute.attempt.classify import AnswerTerms, classify, header
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Phase
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from tests.gateway.manifest.sample import KEYED as KEYED_MANIFEST
from tests.gateway.manifest.sample import compiled

WALL = 1_790_000_000.0
PLAIN = AnswerTerms(effect=Effect.WRITE)
READ = AnswerTerms(effect=Effect.READ)
KEYED = AnswerTerms(
    effect=Effect.WRITE,
    key=DownstreamKey(
        in_=KeyPlace.HEADER,
        name="Idempotency-Key",
        window_s=86_400.0,
        replay_marker=("Idempotent-Replayed", "true"),
        in_progress_status=409,
        mismatch_status=422,
    ),
)
DELETE = AnswerTerms(effect=Effect.IDEMPOTENT, already_done=frozenset({404, 410}))
MARKED = (("idempotent-replayed", "True"),)


def answered(status: int, *headers: tuple[str, str], body: bytes = b"{}") -> Exchange:
    return Exchange(phase=Phase.COMPLETE, answer=Answer(status=status, headers=headers, body=body))


def said(exchange: Exchange, terms: AnswerTerms = PLAIN, *, sends: int = 1, after_unknown: bool = False) -> str:
    """An outcome in a word or two: its type, its code, and `again` when the same call may be sent again."""
    outcome = classify(exchange, terms, wall=WALL, sends=sends, after_unknown=after_unknown)
    words = [type(outcome).__name__, str(outcome.code or "")]
    if isinstance(outcome, NotSent | Refused) and outcome.retryable:
        words.append("again")
    return " ".join(filter(None, words))


TABLE = [
    ("200 201 203 206 204 205 202 208", "Done"),
    ("207", "Done partial"),
    ("301 302", "Unknown outcome_unknown"),
    ("303", "Done done_result_elsewhere"),
    ("307 308", "Refused redirect_refused"),
    ("300 304 305 306", "Refused unexpected_status"),
    ("400 405 406 411 413 414 415 416 417 421 422 426 428 431 451", "Refused rejected"),
    ("401 407", "Refused downstream_auth"),
    ("403", "Refused downstream_forbidden"),
    ("402", "Refused declined"),
    ("404 410", "Refused not_found"),
    ("408", "Unknown outcome_unknown"),
    ("409", "Refused conflict"),
    ("412", "Refused precondition_failed"),
    ("423", "Refused locked again"),
    ("424", "Refused rejected"),
    ("425", "Refused too_early again"),
    ("429", "Refused rate_limited again"),
    ("460 499", "Unknown outcome_unknown"),
    ("500", "Unknown downstream_error_unknown_outcome"),
    ("501 505", "Refused unsupported"),
    ("502 503 504 507 508 510", "Unknown outcome_unknown"),
    ("511", "Refused proxy_failed again"),
    ("520 521 522 523 524 525 526", "Unknown outcome_unknown"),
    ("101 199 600 999", "Unknown malformed_response"),
]
READ_TABLE = [
    ("200 202 204 206", "Done"),
    ("301 302 303 307 308", "Refused redirect_refused"),
    ("404", "Refused not_found"),
    ("408 504 524", "Unknown downstream_timeout"),
    ("429", "Refused rate_limited again"),
    ("500 502 503 507 520", "Unknown unavailable"),
    ("999", "Unknown unavailable"),
]


def each(table: list[tuple[str, str]]) -> list[tuple[int, str]]:
    return [(int(status), expected) for statuses, expected in table for status in statuses.split()]


@pytest.mark.parametrize(("status", "expected"), each(TABLE))
def test_every_status_of_a_first_write(status: int, expected: str) -> None:
    """Table 1.3, the column of a plain write's first attempt."""
    assert said(answered(status)) == expected


@pytest.mark.parametrize(("status", "expected"), each(READ_TABLE))
def test_every_kind_of_status_of_a_read(status: int, expected: str) -> None:
    """What would be unknown of a write is of a read a failure that may be tried again."""
    assert said(answered(status), READ) == expected


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("phase", [Phase.NONE, Phase.CONNECTING, Phase.CONNECTED])
@pytest.mark.parametrize("terms", [PLAIN, READ, KEYED, DELETE])
def test_before_sent_nothing_was_sent_whatever_was_raised(fault: Fault, phase: Phase, terms: AnswerTerms) -> None:
    """The phase decides, not the fault."""
    assert isinstance(classify(Exchange(phase=phase, fault=fault), terms, wall=WALL), NotSent)


@pytest.mark.parametrize("fault", [None, *Fault])
@pytest.mark.parametrize("terms", [PLAIN, READ, KEYED, DELETE])
@pytest.mark.parametrize("written", [True, False])
def test_from_sent_on_nothing_is_proved_without_a_status(
    fault: Fault | None, terms: AnswerTerms, *, written: bool
) -> None:
    """The phase decides, not the fault; half a request may have been acted on too."""
    exchange = Exchange(phase=Phase.SENT, fault=fault, written=written)

    assert isinstance(classify(exchange, terms, wall=WALL), Unknown)


@pytest.mark.parametrize(
    ("status", "fault", "expected"),
    [
        (200, Fault.RESET, "Done done_result_lost"),
        (201, Fault.READ_TIMEOUT, "Done done_result_lost"),
        (200, Fault.DISCONNECTED, "Done done_result_lost"),
        (200, Fault.MALFORMED, "Done done_result_lost"),
        (200, Fault.BODY_TOO_LARGE, "Done result_too_large"),
        (200, Fault.BAD_ENCODING, "Done result_unreadable"),
        (400, Fault.RESET, "Refused rejected"),
        (429, Fault.READ_TIMEOUT, "Refused rate_limited again"),
        (500, Fault.RESET, "Unknown downstream_error_unknown_outcome"),
    ],
)
def test_the_status_decides_also_when_the_body_was_lost(status: int, fault: Fault, expected: str) -> None:
    """What became of the body is told beside the outcome."""
    answer = Answer(status=status, headers=(), body=b'{"refund_')

    assert said(Exchange(phase=Phase.BODY, answer=answer, fault=fault)) == expected


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.BODY_TOO_LARGE, Fault.BAD_ENCODING])
def test_half_a_result_is_never_handed_on(fault: Fault) -> None:
    """A body that was cut may still parse; so nobody gets it."""
    cut = Answer(status=200, headers=(("location", "/refunds/1"),), body=b"[1]")

    outcome = classify(Exchange(phase=Phase.BODY, answer=cut, fault=fault), PLAIN, wall=WALL)

    assert isinstance(outcome, Done)
    assert outcome.answer == replace(cut, body=b"")


def test_a_body_that_ended_with_its_connection_is_handed_on_marked() -> None:
    """Only its schema can say whether it is whole."""
    answer = Answer(status=200, headers=(), body=b"{}", close_delimited=True)

    outcome = classify(Exchange(phase=Phase.BODY, answer=answer), PLAIN, wall=WALL)

    assert outcome == Done(status=200, answer=answer)


def test_accepted_is_done_and_pending() -> None:
    """202 says that the work goes on."""
    outcome = classify(answered(202), PLAIN, wall=WALL)

    assert isinstance(outcome, Done)
    assert outcome.pending


@pytest.mark.parametrize("status", [404, 409, 410, 412])
@pytest.mark.parametrize("terms", [PLAIN, KEYED])
def test_what_our_first_attempt_may_have_caused_concludes_nothing(status: int, terms: AnswerTerms) -> None:
    """Look up instead: the object is gone, moved or taken perhaps because the first attempt succeeded."""
    assert said(answered(status), terms, sends=2).startswith("Unknown")
    assert said(answered(status), terms, after_unknown=True).startswith("Unknown")


def test_a_manifest_cannot_talk_that_doubt_away() -> None:
    """`409: refused` holds for a first attempt; after an unknown one it is looked up."""
    terms = replace(PLAIN, statuses={409: StatusMeaning.REFUSED})

    assert said(answered(409), terms) == "Refused conflict"
    assert said(answered(409), terms, after_unknown=True) == "Unknown outcome_unknown"


def test_a_read_that_finds_nothing_twice_has_found_nothing() -> None:
    """A read changes nothing, so its second attempt is as good as its first."""
    assert said(answered(404), READ, sends=3, after_unknown=True) == "Refused not_found"


SAYS_NO = compiled(KEYED_MANIFEST, {"backend.http.refused_when": "data.ok == false"})
OF_BODY = AnswerTerms.of(SAYS_NO)


@pytest.mark.parametrize(
    ("body", "write", "read"),
    [
        (b'{"ok": true}', "Done", "Done"),
        (b'{"ok": false}', "Refused rejected", "Refused rejected"),
        (b'{"other": 1}', "Unknown outcome_unknown", "Done"),
        (b"[]", "Unknown outcome_unknown", "Done"),
        (b"not json", "Unknown outcome_unknown", "Done"),
        (b"", "Unknown outcome_unknown", "Done"),
    ],
)
def test_a_success_may_say_no_in_its_body(body: bytes, write: str, read: str) -> None:
    """`refused_when`: where it is true nothing was done; where it cannot be asked, nothing is known of a write."""
    assert said(answered(200, body=body), OF_BODY) == write
    assert said(answered(200, body=body), replace(OF_BODY, effect=Effect.READ)) == read
    assert said(answered(200, body=body)) == "Done"


def test_half_a_body_says_neither_yes_nor_no() -> None:
    """It was cut before anybody could read what it says."""
    cut = replace(answered(200, body=b'{"ok": false}'), phase=Phase.BODY, fault=Fault.RESET)

    assert said(cut, OF_BODY) == "Unknown outcome_unknown"


def test_a_no_in_a_body_proves_nothing_after_an_earlier_send() -> None:
    """`{"ok": false, "error": "already refunded"}` may be our own doing."""
    no = answered(200, body=b'{"ok": false}')

    assert said(no, OF_BODY, sends=2) == "Unknown outcome_unknown"
    assert said(no, OF_BODY, after_unknown=True) == "Unknown outcome_unknown"
    assert said(no, replace(OF_BODY, effect=Effect.READ), sends=2) == "Refused rejected"


def test_a_refusing_status_is_not_asked_for_its_body() -> None:
    """It says no as it is, and a failure of the server says nothing, whatever is in its body."""
    assert said(answered(402, body=b'{"ok": true}'), OF_BODY) == "Refused declined"
    assert said(answered(500, body=b'{"ok": false}'), OF_BODY) == "Unknown downstream_error_unknown_outcome"


def test_already_done_counts_only_after_an_unknown_attempt() -> None:
    """A delete that first finds nothing has deleted nothing."""
    assert said(answered(404), DELETE) == "Refused not_found"
    assert said(answered(404), DELETE, sends=2) == "Unknown outcome_unknown"
    assert said(answered(404), DELETE, sends=2, after_unknown=True) == "Done"
    assert said(answered(412), DELETE, sends=2, after_unknown=True) == "Unknown outcome_unknown"


def test_the_error_text_of_already_done_is_no_result() -> None:
    """What came with the 404 is not what the delete would have returned."""
    outcome = classify(answered(404, body=b'{"error": 1}'), DELETE, wall=WALL, after_unknown=True)

    assert isinstance(outcome, Done)
    assert outcome.answer == Answer(status=404, headers=(), body=b"")


@pytest.mark.parametrize(
    ("status", "meaning", "expected"),
    [
        (503, StatusMeaning.REFUSED, "Refused unavailable"),
        (503, StatusMeaning.REFUSED_RETRYABLE, "Refused unavailable again"),
        (500, StatusMeaning.REFUSED, "Refused unavailable"),
        (409, StatusMeaning.DONE, "Done"),
        (207, StatusMeaning.DONE, "Done partial"),
        (200, StatusMeaning.UNKNOWN, "Unknown outcome_unknown"),
        (200, StatusMeaning.REFUSED, "Refused rejected"),
        (302, StatusMeaning.DONE, "Done"),
        (302, StatusMeaning.REFUSED, "Refused redirect_refused"),
        (429, StatusMeaning.UNKNOWN, "Unknown outcome_unknown"),
        (429, StatusMeaning.REFUSED, "Refused rate_limited"),
        (408, StatusMeaning.REFUSED_RETRYABLE, "Refused downstream_timeout again"),
        (522, StatusMeaning.REFUSED_RETRYABLE, "Refused unavailable again"),
        (499, StatusMeaning.REFUSED, "Refused unavailable"),
    ],
)
def test_the_manifest_knows_its_provider_better(status: int, meaning: StatusMeaning, expected: str) -> None:
    """A declared status replaces the row of the table."""
    assert said(answered(status), replace(PLAIN, statuses={status: meaning})) == expected


def test_a_key_in_use_downstream_is_an_attempt_under_way() -> None:
    """Neither done nor refused: the service is at it."""
    assert said(answered(409), KEYED) == "Unknown in_flight_downstream"
    assert said(answered(409), replace(KEYED, statuses={409: StatusMeaning.REFUSED})) == "Refused conflict"


def test_another_body_under_our_key_admits_that_the_key_was_used() -> None:
    """At first it is an ordinary refusal; after an unknown attempt it refuses nothing that came before."""
    assert said(answered(422), KEYED) == "Refused rejected"
    assert said(answered(422), KEYED, sends=2) == "Refused rejected"
    assert said(answered(422), KEYED, sends=2, after_unknown=True) == "Unknown outcome_unknown"
    assert said(answered(422), PLAIN, sends=2, after_unknown=True) == "Refused rejected"


def test_a_stored_answer_is_believed() -> None:
    """The declared marker says that the answer is the first attempt's own."""
    done = classify(answered(200, *MARKED), KEYED, wall=WALL, sends=2, after_unknown=True)
    refused = classify(answered(409, *MARKED), KEYED, wall=WALL, sends=2, after_unknown=True)

    assert isinstance(done, Done)
    assert isinstance(refused, Refused)
    assert (done.replayed, refused.replayed, refused.code) == (True, True, "conflict")


def test_a_stored_failure_is_still_no_proof() -> None:
    """A provider that keeps its 500 under the key keeps an answer that says nothing."""
    outcome = said(answered(500, *MARKED), KEYED, sends=2, after_unknown=True)

    assert outcome == "Unknown downstream_error_unknown_outcome"


def test_a_marker_nobody_declared_is_no_marker() -> None:
    """Headers mean what the manifest says."""
    outcome = classify(answered(200, *MARKED), PLAIN, wall=WALL)

    assert isinstance(outcome, Done)
    assert not outcome.replayed
    assert said(answered(409, ("idempotent-replayed", "false")), KEYED) == "Unknown in_flight_downstream"


@pytest.mark.parametrize(
    ("written", "reused", "expected"),
    [
        (False, False, "Refused downstream_timeout again"),
        (False, True, "Unknown outcome_unknown"),
        (True, False, "Unknown outcome_unknown"),
        (True, True, "Unknown outcome_unknown"),
    ],
)
def test_a_408_is_believed_only_when_it_can_be_about_our_request(expected: str, *, written: bool, reused: bool) -> None:
    """It must be the first on its connection, and we must not have sent the request whole."""
    exchange = replace(answered(408), written=written, reused=reused)

    assert said(exchange) == expected


@pytest.mark.parametrize(("status", "expected"), [(429, 17.0), (423, 17.0), (503, 17.0), (200, None)])
def test_retry_after_is_handed_on(status: int, expected: float | None) -> None:
    """With every refusal and every unknown."""
    outcome = classify(answered(status, ("retry-after", "17")), PLAIN, wall=WALL)

    assert getattr(outcome, "retry_after_s", None) == expected


def test_a_retry_after_that_names_a_date_is_counted_from_now() -> None:
    """`wall` is what turns it into seconds."""
    outcome = classify(answered(429, ("retry-after", "Mon, 21 Sep 2026 14:13:30 GMT")), PLAIN, wall=1_790_000_000.0)

    assert isinstance(outcome, Refused)
    assert outcome.retry_after_s == 10.0


def test_headers_are_found_by_their_lower_case_name() -> None:
    """The first one counts."""
    answer = Answer(status=200, headers=(("x-a", "1"), ("x-a", "2")), body=b"")

    assert (header(answer, "x-a"), header(answer, "x-b")) == ("1", None)


EXCHANGES = st.builds(
    Exchange,
    phase=st.sampled_from(Phase),
    fault=st.none() | st.sampled_from(Fault),
    answer=st.none() | st.builds(Answer, status=st.integers(0, 999), headers=st.just(()), body=st.just(b"")),
    reused=st.booleans(),
    written=st.booleans(),
)
EXPECTED = {NotSent: CallOutcome.NOT_EXECUTED, Refused: CallOutcome.NOT_EXECUTED, Unknown: CallOutcome.UNKNOWN}


@given(st.data(), EXCHANGES, st.sampled_from([PLAIN, KEYED, DELETE]))
def test_no_code_contradicts_its_outcome(data: st.DataObject, exchange: Exchange, terms: AnswerTerms) -> None:
    """Whatever happened to a write, the code's facts say what the type says."""
    sends, after_unknown = data.draw(st.integers(1, 3)), data.draw(st.booleans())

    outcome: Outcome = classify(exchange, terms, wall=WALL, sends=sends, after_unknown=after_unknown)

    if outcome.code is not None:
        expected = EXPECTED.get(type(outcome), CallOutcome.EXECUTED)
        assert FACTS[ErrorCode(outcome.code)].outcome is expected


def test_terms_are_what_the_manifest_says() -> None:
    """Effect, declared statuses and the downstream key, each from its own field."""
    tool = compiled(KEYED_MANIFEST, {"backend.http.statuses": {503: "refused_retryable"}})
    deleting = compiled(KEYED_MANIFEST, {"effect": "idempotent", "backend.http.already_done": [404, 410]})

    terms = AnswerTerms.of(tool)

    assert (terms.effect, terms.key) == (Effect.WRITE, tool.downstream_key)
    assert terms.statuses == {503: StatusMeaning.REFUSED_RETRYABLE}
    assert said(answered(503), terms) == "Refused unavailable again"
    assert AnswerTerms.of(deleting).already_done == {404, 410}
    assert AnswerTerms.of(deleting).effect is Effect.IDEMPOTENT


@pytest.mark.parametrize(
    ("status", "headers", "terms", "used"),
    [(422, (), KEYED, True), (422, MARKED, KEYED, False), (400, (), KEYED, False), (422, (), PLAIN, False)],
)
def test_a_refusal_may_say_that_the_key_was_used(
    status: int, headers: tuple[tuple[str, str], ...], terms: AnswerTerms, *, used: bool
) -> None:
    """By the declared status, unless the answer is marked as a stored one, which is of this body."""
    outcome = classify(answered(status, *headers), terms, wall=WALL)

    assert isinstance(outcome, Refused)
    assert outcome.key_used is used


def test_what_a_status_says_of_a_key_is_the_manifests_word() -> None:
    """Other statuses than the usual ones; then these have the meaning that they have for everybody."""
    assert KEYED.key is not None
    terms = replace(KEYED, key=replace(KEYED.key, in_progress_status=425, mismatch_status=400))

    assert said(answered(425), terms) == "Unknown in_flight_downstream"
    assert said(answered(409), terms) == "Refused conflict"
    assert said(answered(400), terms, after_unknown=True) == "Unknown outcome_unknown"
    assert said(answered(422), terms, after_unknown=True) == "Refused rejected"
