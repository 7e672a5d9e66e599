from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from gateway.stages.monitor.outcome import FAULTS, OUTCOME_OF, Outcome, charged, learned, outcome_of
from gateway.stages.monitor.ports import ReconcileResult
from tests.gateway.stages.monitor.samples import failed, ok


def test_every_code_has_a_word() -> None:
    """A code that the contract gains is not forgotten here."""
    assert set(OUTCOME_OF) == set(ErrorCode)


def test_unknown_is_never_called_an_error_or_a_refusal() -> None:
    """What is unknown about the world is unknown in every metric, unless another call will tell."""
    for code, row in FACTS.items():
        if row.outcome is CallOutcome.UNKNOWN:
            assert OUTCOME_OF[code] in {Outcome.UNKNOWN, Outcome.IN_FLIGHT}, code
        else:
            assert OUTCOME_OF[code] is not Outcome.UNKNOWN, code


def test_a_server_side_status_is_a_fault() -> None:
    """Whatever is answered with 5xx counts in the error rate."""
    assert {OUTCOME_OF[code] for code, row in FACTS.items() if row.status >= 500} == {Outcome.ERROR}


def test_a_callers_mistake_is_no_fault() -> None:
    """Wrong arguments and missing permissions do not move the error rate."""
    mistakes = {ErrorCode.INVALID_ARGUMENTS, ErrorCode.FORBIDDEN, ErrorCode.UNKNOWN_TOOL, ErrorCode.DECLINED}

    assert {OUTCOME_OF[code] for code in mistakes} == {Outcome.REJECTED}
    assert Outcome.REJECTED not in FAULTS


def test_a_stored_answer_is_a_replay_whatever_it_says() -> None:
    """A refusal that is given again is a replay, as a result is."""
    assert outcome_of(ok(replayed=True)) is Outcome.REPLAYED
    assert outcome_of(failed(ErrorCode.DECLINED, replayed=True)) is Outcome.REPLAYED


def test_the_words_of_the_rest() -> None:
    """An envelope without an error is ok; one with an error has its code's word."""
    assert outcome_of(ok()) is Outcome.OK
    assert outcome_of(failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME)) is Outcome.UNKNOWN
    assert outcome_of(failed(ErrorCode.IDEMPOTENCY_IN_PROGRESS)) is Outcome.IN_FLIGHT
    assert outcome_of(failed(ErrorCode.APPROVAL_REQUIRED)) is Outcome.APPROVAL_REQUIRED
    assert outcome_of(failed(ErrorCode.CIRCUIT_OPEN)) is Outcome.ERROR


def test_only_what_may_have_been_carried_out_costs() -> None:
    """A result, a lost result and an unknown outcome cost; a refusal, a replay and a call without a send do not."""
    assert charged(ok())
    assert charged(failed(ErrorCode.DONE_RESULT_LOST))
    assert charged(failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME))
    assert not charged(failed(ErrorCode.DECLINED))
    assert not charged(ok(replayed=True))
    assert not charged(failed(ErrorCode.IDEMPOTENCY_IN_PROGRESS, attempts=0))


def test_what_a_look_came_to_is_what_its_record_says() -> None:
    """Two effects are an effect; a record that is owned or in doubt has told nothing."""
    told = {state: learned(state) for state in State}

    assert {state for state in State if told[state] is ReconcileResult.DONE} == {State.DONE, State.FROZEN}
    assert {state for state in State if told[state] is ReconcileResult.NOT_DONE} == {State.FREE, State.REFUSED}
    assert {*told.values()} == {*ReconcileResult}
