"""Thirty ways in which loops of others went wrong, each as one line about ours. Tests name the numbers they prove."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_LINES: Final = (
    "a tool that runs longer than its worker is given out again: the second worker joins the call under way",
    "killed before or after any write of the store: the observation and its version are there together, or neither",
    "killed right after a task was accepted: the task is there, and the same id starts no other",
    "eight reads at once: none of their eight answers is lost",
    "a worker that was overtaken saves late: it is refused, and nothing changes",
    "what was saved is not changed by what the worker does with its state afterwards",
    "three writes in one reply, and the second needs approval: the first runs once",
    "a question in the middle of a batch: the write beside it does not run twice, nor behind the question",
    "killed inside a batch: every call of it runs once, or is told not to have run",
    "of two workers the loser stops; it does not reload and go on",
    "order is a count: a thousand saves in one millisecond, or a clock that steps back, change nothing",
    "after an approval the write is sent before any model is asked",
    "killed while a tool ran: the prompt of the next worker is one that a provider takes, with what came of the call",
    "whatever the moment of death, each tool call in a prompt has one answer and each answer its call",
    "a second attempt in other words is the same action; another amount on the same identity is a conflict",
    "free text moves no key",
    "no schema that a model sees has a place for a key, and a key that it makes up is rejected",
    "a client that repeats by itself: one effect behind the gateway",
    "recovery while the first owner lives: one of them goes on, and recovery makes progress or ends",
    "the model's provider refuses after a write: FAILED, and running the task again does not repeat the write",
    "a call id that a provider uses again carries no approval and no answer over to another action",
    "the policy changed while the task was parked: revalidated, and asked for again once where it must be",
    "a worker in another process takes an approval as it was given, and asks for no second one",
    "an approved write that is sent again spends nothing twice",
    "a decision is a word about an approval and brings no action of its own",
    "killed or lost around an approved write: it goes on under the same approval, without doing or asking again",
    "a second decision on an approval is refused",
    "an approval that nobody answers ends at its time by itself",
    "polls have a budget, cycles of three are seen, different actions with equal answers are no loop",
    "a predicate that never holds ends in BUDGET_EXHAUSTED, and no answer calls itself a success",
)

SCENARIOS: Final[Mapping[int, str]] = MappingProxyType(dict(enumerate(_LINES, start=1)))
"""1 to 30."""
