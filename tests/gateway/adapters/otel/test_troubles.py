from gateway.adapters.otel.troubles import PAUSE_S, Troubles
from gateway.stages.execute.attempt.exchange import Fault
from tests.clocks import ManualClock


async def test_a_fault_that_goes_on_is_told_once_a_minute() -> None:
    """The line that is due stands for those that were passed over."""
    clock = ManualClock()
    troubles = Troubles(clock)
    assert [troubles.met("act", Fault.CONNECT_FAILED) for _ in range(4)] == [1, 0, 0, 0]
    await clock.advance(PAUSE_S)
    assert [troubles.met("act", Fault.CONNECT_FAILED) for _ in range(2)] == [4, 0]


def test_another_tool_or_another_fault_has_a_line_of_its_own() -> None:
    """What is wrong with one says nothing of the others."""
    troubles = Troubles(ManualClock())
    met = [("act", Fault.CONNECT_FAILED), ("act", Fault.READ_TIMEOUT), ("other", Fault.CONNECT_FAILED)]
    assert [troubles.met(*it) for it in met] == [1, 1, 1]


def test_our_own_doing_is_no_news() -> None:
    """A gate that refused and a connection that we closed are told of elsewhere, where they are faults."""
    troubles = Troubles(ManualClock())
    assert [troubles.met("act", it) for it in (Fault.GATE_REFUSED, Fault.ABORTED)] == [0, 0]
