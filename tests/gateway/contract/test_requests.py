"""What fronts and core say to one another besides tool calls."""

from gateway.contract.requests import BreakerView, ForcedView, Readiness, ToolSummary


def test_a_catalogue_entry_says_everything_a_caller_needs_and_nothing_of_the_backend() -> None:
    """A summary's wire form holds schema, effect and what a call must carry."""
    summary = ToolSummary(
        name="issue_refund",
        version="1.2.0",
        digest="sha256:00",
        title="Issue a refund",
        description="Refund one captured payment.",
        effect="write",
        arguments={"type": "object"},
        needs_key=True,
        verify_with="get_refund_status",
        window_s=60.0,
        quarantined=True,
    )

    document = summary.to_dict()

    assert document == {
        "name": "issue_refund",
        "version": "1.2.0",
        "digest": "sha256:00",
        "title": "Issue a refund",
        "description": "Refund one captured payment.",
        "effect": "write",
        "arguments": {"type": "object"},
        "result": None,
        "needs_run_id": False,
        "needs_key": True,
        "verify_with": "get_refund_status",
        "window_s": 60.0,
        "deprecated": None,
        "quarantined": True,
    }


def test_a_successor_is_named_in_the_catalogue() -> None:
    """What a manifest says under `deprecated`, and its result schema, reach the caller."""
    summary = ToolSummary(
        name="old",
        version="1",
        digest="sha256:00",
        title="Old",
        description="Old.",
        effect="read",
        arguments={},
        result={"type": "object"},
        deprecated={"since": "2", "use_instead": "new", "remove_after": None},
    )

    document = summary.to_dict()

    assert document["deprecated"] == {"since": "2", "use_instead": "new", "remove_after": None}
    assert document["result"] == {"type": "object"}


def test_readiness_is_read_by_a_person() -> None:
    """The body of `/readyz` names what was looked at and what is wrong."""
    readiness = Readiness(ready=False, draining=True, warnings=("The clock stepped back.",), checks={"store": "ok"})

    document = readiness.to_dict()

    assert document == {
        "ready": False,
        "draining": True,
        "warnings": ["The clock stepped back."],
        "checks": {"store": "ok"},
    }


def test_a_breaker_view_is_plain_data() -> None:
    """A breaker's entry carries scope, state, when to ask again, and whose word keeps it so."""
    forced = ForcedView(to="open", reason="bank holiday", for_s=30.0)
    view = BreakerView(scope="payments", state="open", failures=5, since_wall=1.5, retry_after_s=30.0, forced=forced)

    document = view.to_dict()

    assert document == {
        "scope": "payments",
        "state": "open",
        "failures": 5,
        "since_wall": 1.5,
        "retry_after_s": 30.0,
        "forced": {"to": "open", "reason": "bank holiday", "for_s": 30.0},
    }
