"""What a predicate sees: recorded evidence, by the identifier it holds."""

from agent_client.findings import Findings, Nothing
from agent_client.state import ActionStatus
from tests.agent_client.states import acted, after, failed, fresh, noted, one_read, seen

STATE = one_read(fresh(), "get_refund_status", {"status": "pending"}, refund_id="rf_1")
LATER = one_read(STATE, "get_refund_status", {"status": "settled"}, refund_id="rf_2")


def test_T12_L47_the_latest_answer_is_found_by_the_arguments_it_was_asked_with() -> None:
    """The identifier decides, not the order of a list."""
    findings = Findings(LATER)

    assert findings.latest("get_refund_status", refund_id="rf_1").data["status"] == "pending"
    assert findings.latest("get_refund_status").data["status"] == "settled"
    assert [f.data["status"] for f in findings.all("get_refund_status")] == ["settled", "pending"]


def test_what_was_never_found_is_false_and_has_no_members() -> None:
    """So that a predicate can be written without looking before each step."""
    nothing = Findings(STATE).latest("issue_refund")

    assert (bool(nothing), nothing.data["refund_id"], len(nothing.data), list(nothing.data)) == (False, None, 0, [])
    assert repr(Nothing()) == "<nothing>"


def test_L47_an_identifier_that_was_never_learned_finds_nothing() -> None:
    """`refund_id=None` must not match an answer that was asked for without one."""
    state = one_read(fresh(), "get_refund_status", {"status": "settled"}, order_id="1")

    assert not Findings(state).latest("get_refund_status", refund_id=None)


def test_L24_a_refusal_and_a_models_words_are_no_evidence() -> None:
    """Neither is found, whatever it says."""
    state = after(fresh(), noted(0, None, "ok", "the refund rf_9 exists"))
    state = after(state, failed(state, "c", "get_refund_status", "not_found"))

    assert not Findings(state).latest("get_refund_status")
    assert Findings(state).of("c").code == "not_found"
    assert Findings(state).goal == "Refund it."


def test_actions_are_told_by_their_state() -> None:
    """Executed and verified, never intended."""
    state = after(fresh(), acted("c", kind="notify_customer"))
    assert not Findings(state).executed("notify_customer")

    state = after(state, seen(state, "c", "notify_customer", {"message_id": "m"}))
    assert Findings(state).executed("notify_customer")
    assert not Findings(state).verified("notify_customer")
    state = after(state, acted("d", status=ActionStatus.VERIFIED))
    assert Findings(state).verified("issue_refund")


def test_a_call_is_found_by_its_own_id() -> None:
    """Its answer, its refusal, what was said of it, or nothing."""
    state = after(STATE, noted(1, "x", "not_executed"))

    assert Findings(state).of("call_1_1").ok
    assert Findings(state).of("x").code == "not_executed"
    assert Findings(state).of("y").code is None
