"""The end of a step: what it did, and whether the task ends."""

from agent_client.events import Corrected, Finished, StepBegan
from agent_client.status import Reason
from agent_client.steps.terminate import after_step, ending, finish_proposed, watch
from agent_client.task_type import TaskType
from tests.agent_client.states import acted, after, decided, fresh, noted, one_read


def test_L50_a_step_is_watched_by_what_was_called_and_what_came_back() -> None:
    """One pair a call; finish and wait are bounded otherwise and are not counted."""
    state = after(fresh(), StepBegan(step=1), decided(1, "finish"), noted(1, "call_1_1", "completion_rejected"))
    assert (watch(state).counted, watch(state).pairs) == (False, ())

    state = after(fresh(), StepBegan(step=1), decided(1, "nope"), noted(1, "call_1_1", "unknown_tool"))
    assert (watch(state).counted, len(watch(state).pairs)) == (True, 1)


def test_the_same_step_gives_the_same_watch_with_or_without_a_crash() -> None:
    """It is made from the state alone."""
    state = one_read(fresh(), "lookup_order", {"a": 1}, order_id="1")

    assert watch(state) == watch(type(state).model_validate_json(state.model_dump_json()))


def test_L39_the_budget_is_asked_for_again_after_the_step() -> None:
    """Time or tokens that are gone end the task before anything is corrected."""
    state = one_read(fresh(active_seconds=10), "lookup_order", {"a": 1})
    watched = watch(state)

    late, early = after_step(after(state, watched), watched, 11.0), after_step(after(state, watched), watched, 1.0)

    assert isinstance(late, Finished)
    assert (late.reason, early) == (Reason.DEADLINE, None)


def test_L27_two_empty_replies_are_no_action() -> None:
    """No words, no calls: told once, ended the second time."""
    state = fresh()
    for step in (1, 2):
        state = after(state, StepBegan(step=step), decided(step))
        watched = watch(state)
        state = after(state, watched)

    verdict = after_step(state, watched, 1.0)

    assert isinstance(verdict, Finished)
    assert verdict.reason is Reason.NO_ACTION


def test_L35_finish_is_a_proposal_that_the_predicate_decides() -> None:
    """Done with evidence; a reason without; no way is no way."""
    task = TaskType("t")
    task.done(lambda evidence: None if evidence.latest("lookup_order").ok else "no order seen")

    assert finish_proposed(fresh(), task, "done", "ready") == "no order seen"
    done = finish_proposed(one_read(fresh(), "lookup_order", {}), task, "done", "ready")
    cannot = finish_proposed(fresh(), task, "cannot", "lost")
    assert isinstance(done, Finished)
    assert isinstance(cannot, Finished)
    assert (done.reason, done.answer, cannot.reason) == (Reason.VERIFIED, "ready", Reason.NO_ACTION)


def test_L34_no_evidence_makes_success_of_a_task_with_an_action_in_doubt() -> None:
    """While something is open, the end of a budget is the end of a budget."""
    task = TaskType("t")
    task.done(lambda _: True)
    out = Finished(reason=Reason.STEPS, detail="all used")

    assert ending(fresh(), task, out).reason is Reason.VERIFIED
    assert ending(after(fresh(), acted("c1")), task, out) == out
    assert ending(fresh(), task, Finished(reason=Reason.NO_ACTION, detail="")).reason is Reason.NO_ACTION


def test_after_step_corrects_what_goes_round() -> None:
    """The monitor's word, once."""
    state = fresh()
    for _ in range(3):
        state = one_read(state, "lookup_order", {"a": 1}, order_id="1")
        watched = watch(state)
        state = after(state, watched)

    assert isinstance(after_step(state, watched, 1.0), Corrected)
