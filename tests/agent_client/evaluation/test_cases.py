"""What a case is made of."""

from agent_client.evaluation import ANY, Case


def test_a_case_needs_a_look_at_the_world_and_little_else() -> None:
    """The rest has values that fit a task without writes and approvals."""
    case = Case(name="n", task_type="t", goal="g", verify=lambda _: True)

    assert (case.reference, case.limits, case.model, case.person) == (None, None, None, None)


def test_any_shows_itself_by_its_name() -> None:
    """So that a reference can be read in a failed assertion."""
    assert repr(ANY) == "ANY"
