"""The table of an operation's life, as data. An absent cell is an illegal move and raises.

Everything the promise rests on is a cell here; `machine.py` walks it, and `become.py` alone writes what it says into `state`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.stages.execute.operation.record import State


class Event(StrEnum):
    """What can happen to a record."""

    CLAIMED = "claimed"
    TAKEN_OVER = "taken_over"
    """A live call takes a CLAIMED record whose lease is dead; nothing of it was sent."""
    GATE_PASSED = "gate_passed"
    REPLAY_GATE_PASSED = "replay_gate_passed"
    GAVE_UP = "gave_up"
    """The owner ends with nothing sent."""
    NOT_SENT = "not_sent"
    REFUSED_RETRYABLE = "refused_retryable"
    REFUSED = "refused"
    REFUSED_FOR_ALL = "refused_for_all"
    """An authoritative refusal answered to a same-key replay: it speaks for the earlier attempts too."""
    DONE = "done"
    DONE_BESIDE_ANOTHER = "done_beside_another"
    """Done, while a later attempt was sent whose bytes may act on their own."""
    DONE_FOR_ANOTHER = "done_for_another"
    """Done, by what was sent with other material arguments, and not to be squared with what the record stands for."""
    CALLER_ANSWERED = "caller_answered"
    CONTACT_LOST = "contact_lost"
    """Listening ended without an answer."""
    OWNER_DIED = "owner_died"
    """Somebody saw the dead lease."""
    FOUND_ONE = "found_one"
    FOUND_SEVERAL = "found_several"
    FOUND_NOTHING = "found_nothing"
    """A look-up's negative that counts, but not yet often enough."""
    PROVED_ABSENT = "proved_absent"
    """The negative that counts has been confirmed as often as declared."""
    OPERATOR_DONE = "operator_done"
    OPERATOR_FREE = "operator_free"
    OPERATOR_REFUSED = "operator_refused"


@dataclass(frozen=True, slots=True)
class Cell:
    """Where an event leads.

    Attributes:
        to: the next state.
        joins: first look at the other attempts: while one of them is unknown, the next state is UNKNOWN.
    """

    to: State
    joins: bool = False


_DONE: Final = Cell(State.DONE)
_FROZEN: Final = Cell(State.FROZEN)
_UNKNOWN: Final = Cell(State.UNKNOWN)

TRANSITIONS: Final[Mapping[State, Mapping[Event, Cell]]] = {
    State.FREE: {
        Event.CLAIMED: Cell(State.CLAIMED),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.FOUND_ONE: _DONE,
    },
    State.CLAIMED: {
        Event.TAKEN_OVER: Cell(State.CLAIMED),
        Event.GATE_PASSED: Cell(State.SENT),
        Event.GAVE_UP: Cell(State.FREE, joins=True),
        Event.OWNER_DIED: Cell(State.FREE, joins=True),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.FOUND_ONE: _DONE,
    },
    State.SENT: {
        Event.REPLAY_GATE_PASSED: Cell(State.SENT),
        Event.NOT_SENT: Cell(State.CLAIMED, joins=True),
        Event.REFUSED_RETRYABLE: Cell(State.CLAIMED, joins=True),
        Event.REFUSED: Cell(State.REFUSED, joins=True),
        Event.REFUSED_FOR_ALL: Cell(State.REFUSED),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.CALLER_ANSWERED: Cell(State.LISTENING),
        Event.CONTACT_LOST: _UNKNOWN,
        Event.OWNER_DIED: _UNKNOWN,
        Event.FOUND_ONE: _DONE,
    },
    State.LISTENING: {
        Event.REPLAY_GATE_PASSED: Cell(State.SENT),
        Event.NOT_SENT: Cell(State.FREE, joins=True),
        Event.REFUSED_RETRYABLE: Cell(State.FREE, joins=True),
        Event.REFUSED: Cell(State.REFUSED, joins=True),
        Event.REFUSED_FOR_ALL: Cell(State.REFUSED),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.CONTACT_LOST: _UNKNOWN,
        Event.OWNER_DIED: _UNKNOWN,
        Event.FOUND_ONE: _DONE,
        Event.FOUND_SEVERAL: _FROZEN,
        Event.OPERATOR_DONE: _DONE,
    },
    State.UNKNOWN: {
        Event.REPLAY_GATE_PASSED: Cell(State.SENT),
        Event.NOT_SENT: Cell(State.FREE, joins=True),
        Event.REFUSED_RETRYABLE: Cell(State.FREE, joins=True),
        Event.REFUSED: Cell(State.REFUSED, joins=True),
        Event.REFUSED_FOR_ALL: Cell(State.REFUSED),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.FOUND_ONE: _DONE,
        Event.FOUND_SEVERAL: _FROZEN,
        Event.FOUND_NOTHING: _UNKNOWN,
        Event.PROVED_ABSENT: Cell(State.FREE),
        Event.OPERATOR_DONE: _DONE,
        Event.OPERATOR_FREE: Cell(State.FREE),
        Event.OPERATOR_REFUSED: Cell(State.REFUSED),
    },
    State.DONE: {
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
    },
    State.REFUSED: {
        Event.CLAIMED: Cell(State.CLAIMED),
        Event.DONE: _DONE,
        Event.DONE_BESIDE_ANOTHER: _FROZEN,
        Event.DONE_FOR_ANOTHER: _FROZEN,
        Event.FOUND_ONE: _DONE,
    },
    State.FROZEN: {
        Event.OPERATOR_DONE: _DONE,
        Event.OPERATOR_FREE: Cell(State.FREE),
        Event.OPERATOR_REFUSED: Cell(State.REFUSED),
    },
}


class IllegalMoveError(Exception):
    """The table has no such cell. Nothing was changed."""

    def __init__(self, state: State, event: Event) -> None:
        super().__init__(f"{event} cannot happen to a record that is {state}")
        self.state = state
        self.event = event


def cell(state: State, event: Event) -> Cell:
    """The cell of `event` in the row of `state`.

    Raises:
        IllegalMoveError: there is none.
    """
    found = TRANSITIONS[state].get(event)
    if found is None:
        raise IllegalMoveError(state, event)
    return found
