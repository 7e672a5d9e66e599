"""The pieces that sentences are put together from. Each says what the context knows, or something true without it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import NextAction
from gateway.stages.feedback.advice import Means, Standing, means, standing
from gateway.stages.feedback.approval_fragments import APPROVAL_FRAGMENTS
from gateway.stages.feedback.breaker_fragments import BREAKER_FRAGMENTS
from gateway.stages.feedback.context import Context, Suggestion
from gateway.stages.feedback.faults import describe
from gateway.stages.feedback.settling_fragments import SETTLING_FRAGMENTS
from gateway.stages.feedback.words import call, given_name, hidden_values, listed, nearest, seconds, unless_hidden


def _tool(context: Context) -> str:
    return context.tool or "the tool"


def _action(context: Context) -> str:
    """The call, with the arguments that make it this one: `issue_refund(order_id="ORD-4471", …)`."""
    if not context.tool:
        return "the action"
    names = [
        n for n in context.arguments if n not in context.sensitive and (context.shown is None or n in context.shown)
    ]
    shown = {name: context.arguments[name] for name in names}
    return call(context.tool, shown, hidden=_hidden(context), complete=len(names) == len(context.arguments))


def _first(context: Context) -> str:
    """The action where it begins a sentence. A tool's name keeps its spelling even there."""
    return _action(context) if context.tool else "The action"


def _hidden(context: Context) -> tuple[object, ...]:
    return hidden_values(context.arguments, context.sensitive)


def _suggested(context: Context, suggestion: Suggestion) -> str:
    return call(suggestion.tool, suggestion.arguments, hidden=_hidden(context))


def _service(context: Context) -> str:
    return f"The {context.dependency} service" if context.dependency else "The service"


def _http(context: Context) -> str:
    return f" (HTTP {context.status})" if context.status is not None else ""


def _waited(context: Context) -> str:
    return f"within {seconds(context.waited_s)}" if context.waited_s is not None else "in time"


def _tries(context: Context) -> str:
    return f" It was tried {context.attempts} times." if context.attempts > 1 else ""


def _after(context: Context) -> str:
    return f"after {seconds(context.retry_after_s)}" if context.retry_after_s is not None else "later"


def _wait(context: Context) -> str:
    return f"for {seconds(context.retry_after_s)}" if context.retry_after_s is not None else "now"


def _person(context: Context) -> str:
    owner = f"to {context.owner}" if context.owner else "to an operator"
    return f"{owner} (runbook: {context.runbook})" if context.runbook else owner


def _learn(context: Context) -> str:
    """How to learn what became of an action that may have been carried out."""
    match means(context):
        case Means.READ:
            return f"It is a read and changed nothing: call {_tool(context)} again."
        case Means.LOOKUP if context.verify is not None:
            return f"Do not call {_tool(context)} again; verify with {_suggested(context, context.verify)} first."
        case Means.SAME_KEY:
            return (
                f"Do not try it in another way; make the same call again {_after(context)}: "
                "it asks under the same key, which the service carries out once."
            )
        case _:
            return f"Do not call {_tool(context)} again: no read can tell; escalate {_person(context)}."


def _in_flight(context: Context) -> str:
    if means(context) is Means.LOOKUP and context.verify is not None:
        return f"Do not start another; verify with {_suggested(context, context.verify)} {_after(context)}."
    return _learn(context)


def _read_back(context: Context) -> str:
    """What to do about a result that is not in hand."""
    match means(context):
        case Means.READ:
            return f"It is a read and changed nothing: call {_tool(context)} again."
        case Means.LOOKUP if context.verify is not None:
            return f"Do not repeat it; read the result with {_suggested(context, context.verify)}."
        case _:
            return "Do not repeat it; go on without its result."


def _read_elsewhere(context: Context) -> str:
    """The same, where asking again would bring the same answer."""
    if means(context) is Means.READ:
        return "It is a read and changed nothing. Do not repeat it; escalate to an operator."
    return _read_back(context)


def _read_less(context: Context) -> str:
    if means(context) is Means.READ:
        return f"It is a read and changed nothing: call {_tool(context)} again and ask for less."
    return _read_back(context)


def _check_parts(context: Context) -> str:
    match means(context):
        case Means.READ:
            return f"It is a read and changed nothing: call {_tool(context)} again."
        case Means.LOOKUP if context.verify is not None:
            return (
                f"Do not repeat it as a whole; verify which parts were done with {_suggested(context, context.verify)}."
            )
        case _:
            return f"Do not repeat it as a whole; escalate {_person(context)} to learn which parts were done."


def _look_first(context: Context) -> str:
    if context.verify is not None:
        return f"Read the present state with {_suggested(context, context.verify)} before going on."
    return f"Do not send the same call again; escalate {_person(context)}."


def _done(context: Context) -> str:
    """Who carried it out, said of a write; a read has only answered."""
    return f"{_service(context)} answered" if means(context) is Means.READ else f"{_first(context)} was carried out"


def _near(context: Context) -> str:
    if not context.tool or not context.tools or (near := nearest(context.tool, context.tools)) is None:
        return ""
    return f" You may mean {near}."


def _tools(context: Context) -> str:
    if context.tools == ():
        return " You may use no tool here; escalate instead of trying other names."
    available = f" Available: {listed(sorted(context.tools))}." if context.tools else ""
    return f"{available} Call one of the tools in the catalogue."


def _faults(otherwise: str) -> Callable[[Context], str]:
    def words(context: Context) -> str:
        if not context.faults:
            return otherwise
        return describe(context.faults, tool=_tool(context), sensitive=context.sensitive)

    return words


def _given(context: Context) -> str:
    return given_name(context.tool) if context.tool else "as given"


def _reason(context: Context) -> str:
    return f": {context.reason}" if context.reason else ""


def _differing(context: Context) -> str:
    return f"other {listed(context.differing)}" if context.differing else "other arguments"


def _operation(context: Context) -> str:
    return f"operation {context.operation_id}" if context.operation_id else "the operation"


_BY_ANSWER: Final = frozenset({"attempt", "late_answer"})
"""Settled by the answer of the downstream itself, as it came: then, and only then, that was when it was done."""


def _since(context: Context) -> str:
    if not context.settled_at:
        return ""
    return f" at {context.settled_at}" if context.settled_by in _BY_ANSWER else f" (settled at {context.settled_at})"


def _taken(context: Context) -> str:
    """How the operation stands whose arguments differ from this call's, and what follows from it."""
    operation, differing = _operation(context), _differing(context)
    match standing(context.state):
        case Standing.SETTLED_DONE:
            return (
                f"{operation} was already carried out{_since(context)} with {differing}. "
                "Use its result; escalate if a second effect is intended."
            )
        case Standing.SETTLED_REFUSED:
            return f"{operation} was refused with {differing}. Escalate if this one is intended."
        case Standing.OWNED:
            return f"{operation} is being carried out with {differing}. Wait for its outcome before anything else is tried."
        case Standing.DOUBTFUL if context.verify is not None:
            return f"{operation} MAY have been carried out with {differing}. Verify with {_suggested(context, context.verify)} first."
        case _:
            return f"{operation} MAY have been carried out with {differing}. Do not go around it; escalate {_person(context)}."


def _blocked(context: Context) -> str:
    blocker = context.blocker
    if blocker is None:
        return "another operation on the same object MAY have been carried out. Do not go around it; escalate to an operator."
    value = unless_hidden(blocker.value, _hidden(context))
    stands = (
        f"{blocker.tool} (operation {blocker.operation_id}) MAY have been carried out on {blocker.hold} {value} "
        "and is not settled."
    )
    if blocker.verify is None:
        return f"{stands} Do not go around it; escalate to an operator."
    return f"{stands} Verify with {_suggested(context, blocker.verify)} first."


def _deadline(context: Context) -> str:
    if context.deadline_s is None:
        return ""
    needed = f" of the {seconds(context.needed_s)} it needs" if context.needed_s is not None else ""
    return f" ({seconds(context.deadline_s)}{needed})"


# What a manifest's rule may advise, in words.
_NEXT: Final[Mapping[NextAction, str]] = {
    NextAction.FIX_ARGUMENTS: "Correct the arguments and call again.",
    NextAction.RETRY: "Make the same call again.",
    NextAction.WAIT: "Make the same call again later.",
    NextAction.VERIFY: "Read the present state before going on.",
    NextAction.ESCALATE: "Escalate instead of retrying.",
    NextAction.STOP: "Stop; do not call again.",
}


def _advised(otherwise: str) -> Callable[[Context], str]:
    return lambda context: otherwise if context.next_action is None else _NEXT.get(context.next_action, otherwise)


FRAGMENTS: Final[Mapping[str, Callable[[Context], str]]] = MappingProxyType(
    {
        "tool": _tool,
        "action": _action,
        "Action": _first,
        "service": _service,
        "http": _http,
        "waited": _waited,
        "tries": _tries,
        "after": _after,
        "wait": _wait,
        "person": _person,
        "learn": _learn,
        "in_flight": _in_flight,
        "read_back": _read_back,
        "read_elsewhere": _read_elsewhere,
        "read_less": _read_less,
        "check_parts": _check_parts,
        "look_first": _look_first,
        "done": _done,
        "near": _near,
        "tools": _tools,
        "missing": _faults("Required arguments are missing."),
        "extra": _faults("The tool does not take all of these arguments."),
        "mistyped": _faults("An argument has the wrong type."),
        "disallowed": _faults("An argument has a value that is not allowed."),
        "given": _given,
        "reason": _reason,
        "operation": _operation,
        "taken": _taken,
        "blocked": _blocked,
        "deadline": _deadline,
        **APPROVAL_FRAGMENTS,
        **BREAKER_FRAGMENTS,
        **SETTLING_FRAGMENTS,
        "permission": lambda context: context.permission or "a permission",
        "rule": lambda context: f" {context.rule}" if context.rule else "",
        "or_less": _advised("Ask for less, or escalate to someone with a higher limit."),
        "or_another": _advised("Check the identifier, or escalate."),
        "or_person": _advised("Escalate instead of retrying."),
        "header": lambda context: context.header or "a request header",
        "limit": lambda context: context.limit or "the limit",
        "of_limit": lambda context: f" ({context.limit})" if context.limit else "",
    }
)
