from bench.faults.client import Answer, Line, Refund
from bench.faults.judge import judge, late, unsettled, without_retry_after
from bench.scenarios.target import Kind, Told

REFUND = Refund(order="ORD-1", tool="issue_refund_keyed")


def answer(kind: Kind, refund_id: str | None = None, *, line: Line = Line.WHOLE, took_s: float = 0.1) -> Answer:
    """What a caller was told."""
    return Answer(line=line, told=Told(kind=kind, refund_id=refund_id), took_s=took_s)


def test_one_effect_and_its_result_are_right() -> None:
    """Nothing to say."""
    assert judge(REFUND, [answer(Kind.UNKNOWN), answer(Kind.DONE, "RF-1")], ["RF-1"]) == []


def test_a_second_effect_is_wrong() -> None:
    """Whatever was told."""
    assert judge(REFUND, [answer(Kind.DONE, "RF-1")], ["RF-1", "RF-2"]) == [
        "ORD-1 issue_refund_keyed: 2 effects of one intention"
    ]


def test_a_result_that_is_not_in_the_ledger_is_wrong() -> None:
    """It was made up."""
    assert judge(REFUND, [answer(Kind.DONE, "RF-9")], ["RF-1"]) == [
        "ORD-1 issue_refund_keyed: told of RF-9, which is not in the ledger"
    ]


def test_a_denial_of_what_was_done_is_wrong() -> None:
    """Unless somebody was told that it may have been."""
    denied = [answer(Kind.NOT_EXECUTED), answer(Kind.TURNED_AWAY)]

    assert "everybody was told that nothing was done, and it was" in judge(REFUND, denied, ["RF-1"])[0]
    assert judge(REFUND, [*denied, answer(Kind.UNKNOWN)], ["RF-1"]) == []
    assert judge(REFUND, denied, []) == []


def test_a_call_without_an_answer_is_wrong_unless_nobody_listened() -> None:
    """A connection that breaks tells nothing; one that is refused proves that nothing was sent."""
    assert judge(REFUND, [answer(Kind.NOTHING, line=Line.BROKEN)], []) != []
    assert judge(REFUND, [answer(Kind.NOTHING, line=Line.SILENT)], []) != []
    assert judge(REFUND, [answer(Kind.NOTHING, line=Line.REFUSED)], []) == []


def test_late_and_unsettled_answers_are_found() -> None:
    """Above the limit; and of no kind that an end may have."""
    assert len(late([answer(Kind.DONE, took_s=1.0), answer(Kind.DONE, took_s=3.0)], limit_s=2.0)) == 1
    assert unsettled(REFUND, answer(Kind.DONE)) == []
    assert len(unsettled(REFUND, answer(Kind.IN_PROGRESS))) == 1


def test_an_error_has_to_say_when_to_come_back() -> None:
    """A result has not, nor has a refused connection."""
    told = Told(kind=Kind.TURNED_AWAY, code="draining")
    dated = Answer(line=Line.WHOLE, told=told, took_s=0.1, status=503, retry_after_s=1.0)

    assert without_retry_after([dated, answer(Kind.DONE), answer(Kind.NOTHING, line=Line.REFUSED)]) == []
    assert len(without_retry_after([answer(Kind.TURNED_AWAY), answer(Kind.NOTHING, line=Line.BROKEN)])) == 2
