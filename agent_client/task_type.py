"""A kind of task, written once: what it may call, what it may use up, and what counts as done.

refund = TaskType("refund", system=PROMPT, tools=["lookup_order", "issue_refund", "get_refund_status"])

@refund.done
def verified(evidence): ...

@refund.after_approval
def settle(issued):
    yield Call("get_refund_status", refund_id=issued.data["refund_id"])
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agent_client.findings import Findings, Found
from agent_client.limits import Limits

Verdict = tuple[bool, str] | bool | str | None
"""What a predicate may return: `(done, why not)`, a bool, or the reason why not (None: done)."""

Predicate = Callable[[Findings], Verdict]

RESERVED: Final = ("finish", "ask_user", "wait")
"""Tools of the runtime. No tool of a gateway is called by these names."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a fixed sequence makes: `Call("notify_customer", customer_id=…)`."""

    tool: str
    arguments: Mapping[str, Any]

    def __init__(self, tool: str, /, **arguments: Any) -> None:
        object.__setattr__(self, "tool", tool)
        object.__setattr__(self, "arguments", arguments)


Sequel = Callable[[Found], Generator[Call, Found, None]]
"""The fixed sequence after an approved action: it is given what the action brought, and yields calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A part of a task in which only some tools are offered.

    Attributes:
        until: the stage is over once this holds of the evidence; None: it is the last.
    """

    name: str
    tools: tuple[str, ...]
    until: Callable[[Findings], bool] | None = None


@dataclass(slots=True, eq=False)
class TaskType:
    """One kind of task. Its three functions are set by decorators.

    Attributes:
        system: the instructions. They ask; nothing is enforced by them.
        tools: the allow-list. A tool that is not here does not exist for the task, whatever the catalogue holds.
        stages: narrow the list further by what is known; the first stage that is not over counts.
        private: names of members whose values are kept out of evidence wherever they occur.
    """

    name: str
    system: str = ""
    tools: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    stages: tuple[Stage, ...] = ()
    private: frozenset[str] = frozenset()
    predicate: Predicate | None = field(default=None, init=False)
    sequel: Sequel | None = field(default=None, init=False)
    refs: dict[str, Callable[[Any], str | None]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if taken := sorted(set(self.tools) & set(RESERVED)):
            raise ValueError(f"task type {self.name}: {', '.join(taken)} is a tool of the runtime; rename yours")
        if odd := [name for name in self.tools if not _NAME.fullmatch(name)]:
            raise ValueError(f"task type {self.name}: {odd[0]!r} cannot be the name of a tool")
        for stage in self.stages:
            if extra := sorted(set(stage.tools) - set(self.tools)):
                raise ValueError(f"stage {stage.name} offers {', '.join(extra)}, which {self.name} does not list")
        self.tools = tuple(self.tools)

    def done(self, predicate: Predicate) -> Predicate:
        """Decorate the completion predicate: evidence in, done or why not out. Without one no task can succeed."""
        self.predicate = predicate
        return predicate

    def after_approval(self, sequel: Sequel) -> Sequel:
        """Decorate the fixed sequence that follows an approved action. No model is asked while it runs.

        It is run again from its beginning, with recorded results, whenever a worker takes the task up: it must
        depend on nothing but what it is given.
        """
        self.sequel = sequel
        return sequel

    def ref(self, tool: str) -> Callable[[Callable[[Any], str | None]], Callable[[Any], str | None]]:
        """Decorate a function that names a tool's answer for people, such as `POL-REF-004 v4 §3.2`."""

        def keep(name: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
            self.refs[tool] = name
            return name

        return keep

    def offered(self, findings: Findings) -> tuple[str, ...]:
        """The tools of the stage that counts now."""
        for stage in self.stages:
            if stage.until is None or not stage.until(findings):
                return stage.tools
        return () if self.stages else tuple(self.tools)

    def completion(self, findings: Findings) -> tuple[bool, str]:
        """Whether the task is done, and the reason in words. A predicate that fails has found nothing."""
        if self.predicate is None:
            return False, f"task type {self.name} says nowhere what counts as done"
        try:
            verdict = self.predicate(findings)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            return False, f"the evidence is not there yet ({type(error).__name__})"
        match verdict:
            case (bool(done), str(words)):
                return done, words
            case bool():
                return verdict, "verified" if verdict else "not verified"
            case str():
                return False, verdict
            case None:
                return True, "verified"
        raise TypeError(f"the predicate of {self.name} returned {verdict!r}")
