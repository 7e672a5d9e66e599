"""The progress monitor: what it flags, what it leaves alone, and when a second flag ends the task."""

from typing import Any

import pytest

from agent_client.events import Corrected, Finished
from agent_client.progress import flag, judge, pair
from agent_client.state import LoopState
from agent_client.status import Reason, Status
from agent_client.steps.terminate import watch
from tests.agent_client.states import acted, after, fresh, one_read, seen

Step = tuple[str, Any, dict[str, Any]]


def play(*steps: Step, **limits: Any) -> list[Reason | None]:
    """The flag after each step."""
    state, flags = fresh(max_steps=50, **limits), []
    for tool, payload, arguments in steps:
        state = one_read(state, tool, payload, **arguments)
        watched = watch(state)
        state = after(state, watched)
        flags.append(flag(state.monitor, state.limits, step=watched.pairs))
    return flags


def first(flags: list[Reason | None]) -> tuple[int, Reason | None]:
    """The step of the first flag, and which."""
    at = next(i for i, f in enumerate(flags, start=1) if f)
    return at, flags[at - 1]


STATUS: Step = ("get_refund_status", {"refunds": []}, {"order_id": "8472"})
ORDER: Step = ("lookup_order", {"order_id": "8472"}, {"order_id": "8472"})
POLICY: Step = ("search_policy", {"passages": []}, {"query": "refund"})
OTHER: Step = ("reporting_view", {"captures": 1}, {"order_id": "8472"})


def test_L51_the_third_time_the_same_call_brings_the_same_answer_is_a_repetition() -> None:
    """Two are allowed; `max_repeat` says how many."""
    assert play(*[STATUS] * 4) == [None, None, Reason.REPEATED_ACTION, Reason.REPEATED_ACTION]
    assert first(play(*[STATUS] * 6, max_repeat=1)) == (2, Reason.REPEATED_ACTION)


@pytest.mark.parametrize(
    ("cycle", "at"),
    [((ORDER, STATUS), 4), ((ORDER, STATUS, POLICY), 6), ((ORDER, STATUS, POLICY, OTHER), 8)],
    ids=["A-B", "A-B-C", "A-B-C-D"],
)
def test_T04_L51_scenario_29_cycles_of_two_three_and_four_are_seen_after_two_rounds(
    cycle: tuple[Step, ...], at: int
) -> None:
    """Also when nothing else would have told: here the other checks are far away."""
    flags = play(*cycle, *cycle, max_repeat=9, max_stalled=50)

    assert first(flags) == (at, Reason.CYCLE)


def test_T03_L52_progress_theatre_is_seen_by_content_not_by_identifiers() -> None:
    """`8472`, `08472`, `008472`: new arguments and new evidence ids each time, the same answer."""
    steps = [("lookup_order", {"order": 1}, {"order_id": "0" * n + "8472"}) for n in range(6)]

    assert first(play(*steps)) == (4, Reason.NO_STATE_CHANGE)


def test_how_many_steps_may_bring_nothing_is_a_limit() -> None:
    """`max_stalled`."""
    steps = [("lookup_order", {"order": 1}, {"order_id": "0" * n + "8472"}) for n in range(9)]

    assert first(play(*steps, max_stalled=6)) == (7, Reason.NO_STATE_CHANGE)


def test_L52_two_sources_that_contradict_each_other_are_not_asked_for_ever() -> None:
    """The order service says two captures, the report says one; asking both again brings nothing."""
    orders, report = ("lookup_order", {"captures": 2}, {"id": 1}), ("report", {"captures": 1}, {"id": 1})

    assert first(play(orders, report, orders, report, orders, report)) == (4, Reason.CYCLE)


def test_L54_a_read_whose_answer_changes_is_no_repetition() -> None:
    """Polling something that moves is progress."""
    steps = [("get_refund_status", {"status": "pending", "seen": n}, {"id": 1}) for n in range(8)]

    assert play(*steps) == [None] * 8


def test_scenario_29_different_actions_with_the_same_answer_are_no_loop() -> None:
    """Three writes that all return true: what is outstanding changed each time (pydantic-deepagents 208)."""
    state = fresh(max_steps=50)
    for n in range(6):
        state = one_read(state, "delete_row", {"ok": True}, row=n)
        state = after(state, acted(f"call_{n + 1}_1", key=f"key-{n}", sends=0))
        watched = watch(state)
        state = after(state, watched)
        assert flag(state.monitor, state.limits, step=watched.pairs) is None


def test_L50_T14_equal_arguments_in_another_spelling_are_the_same_action() -> None:
    """`1` and `1.0`, members in another order, composed and decomposed accents."""
    assert pair("t", {"a": 1, "b": "é"}, {}) == pair("t", {"b": "é", "a": 1.0}, {})
    assert pair("t", {"a": 1}, {}) != pair("t", {"a": 2}, {})


def judged(state: LoopState) -> Corrected | Finished | None:
    """What follows from the step that was just taken."""
    watched = watch(state)
    return judge(after(state, watched), watched)


def test_L53_the_first_flag_corrects_once_and_the_second_ends_the_task() -> None:
    """The correction names what was called and what came of it; a crash in between changes nothing."""
    state = fresh()
    for _ in range(3):
        state = after(state, watch(state)) if state.step_open else state
        state = one_read(state, *STATUS[:2], **STATUS[2])
    corrected = judged(state)
    assert isinstance(corrected, Corrected)
    assert "get_refund_status" in corrected.observation.text
    state = after(state, watch(state), corrected)
    state = LoopState.model_validate_json(state.model_dump_json())

    ended = judged(one_read(state, *STATUS[:2], **STATUS[2]))

    assert isinstance(ended, Finished)
    assert ended.reason is Reason.REPEATED_ACTION
    assert after(state, ended).status is Status.NO_PROGRESS


def test_L50_state_is_what_is_known_and_outstanding_never_steps_or_tokens() -> None:
    """Counters move each step and count for nothing."""
    state = one_read(fresh(), *ORDER[:2], **ORDER[2])
    state = after(state, watch(state))
    again = one_read(state, *ORDER[:2], **ORDER[2])
    again = after(again, watch(again))

    assert (state.monitor.last_state, again.monitor.stalled) == (again.monitor.last_state, 1)
    moved = after(again, seen(again, "x", "t", {"new": True}))
    assert watch(moved).state != again.monitor.last_state
