"""Where calls wait for the answer of an identical one."""

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail
from gateway.pipeline.waiting import WaitingRoom

ANSWER: Envelope = fail(ErrorCode.CONNECT_FAILED, Meta(request_id="r"))


async def test_everybody_who_sits_is_called() -> None:
    """With what there is to tell; another operation's waiters are not disturbed."""
    room = WaitingRoom(4)
    seats, elsewhere = [room.sit("a"), room.sit("a")], room.sit("b")
    room.call("a", ANSWER)
    assert [None if seat is None else seat.result() for seat in seats] == [ANSWER, ANSWER]
    assert elsewhere is not None
    assert (elsewhere.done(), room.waiting("a"), room.waiting("b")) == (False, 0, 1)


async def test_seats_are_counted_by_operation() -> None:
    """A full queue has none; who rises leaves one."""
    room = WaitingRoom(1)
    seat = room.sit("a")
    assert seat is not None
    assert room.sit("a") is None
    assert room.sit("b") is not None
    room.rise("a", seat)
    assert room.sit("a") is not None


async def test_a_room_without_seats_keeps_nothing() -> None:
    """Nobody sits, and no queue is left behind."""
    room = WaitingRoom(0)
    assert room.sit("a") is None
    room.call("a", None)
    assert room.waiting("a") == 0


async def test_who_has_left_is_not_called() -> None:
    """A cancelled seat stays cancelled."""
    room = WaitingRoom(2)
    gone, waiting = room.sit("a"), room.sit("a")
    assert gone is not None
    assert waiting is not None
    gone.cancel()
    room.call("a", None)
    assert (gone.cancelled(), waiting.result()) == (True, None)
    room.rise("a", gone)
