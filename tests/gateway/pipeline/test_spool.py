"""What must still be kept although the store was away when it was learned."""

from gateway.pipeline.spool import Spool
from gateway.stages.execute.operation.ports import StoreUnavailableError
from tests.clocks import ManualClock


class Keeping:
    """Something that the store refuses some times."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.kept = 0

    async def __call__(self) -> None:
        """Keep it, or not yet."""
        if self.refusals:
            self.refusals -= 1
            raise StoreUnavailableError
        self.kept += 1


def spool(clock: ManualClock, faults: list[str] | None = None) -> Spool:
    """A spool under a test's clock."""
    heard = [] if faults is None else faults
    return Spool(clock, lambda where, error: heard.append(f"{where}: {error}"))


async def test_what_the_store_takes_is_kept_at_once() -> None:
    """Nothing is left for later."""
    keeping, spooled = Keeping(0), spool(ManualClock())
    assert await spooled.keep(keeping)
    assert (keeping.kept, await spooled.drained(0)) == (1, True)


async def test_what_it_does_not_take_is_kept_later_once() -> None:
    """The caller goes on; the pauses double up to five seconds."""
    clock, keeping = ManualClock(), Keeping(10)
    spooled = spool(clock)
    assert not await spooled.keep(keeping)
    for pause_s in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0):
        await clock.sleepers(1)
        assert keeping.kept == 0
        await clock.advance(pause_s)
    assert keeping.kept == 1
    assert await spooled.drained(1)


async def test_draining_says_when_time_ran_out() -> None:
    """What is in it then is lost with the process."""
    spooled = spool(ManualClock())
    spooled.later(Keeping(1))
    assert not await spooled.drained(0.01)


async def test_a_fault_ends_one_and_is_told() -> None:
    """It would not go away by trying again."""
    faults: list[str] = []
    spooled = spool(ManualClock(), faults)

    async def breaks() -> None:
        raise RuntimeError("planted")

    spooled.later(breaks)
    assert await spooled.drained(1)
    spooled.fault("elsewhere", RuntimeError("told"))
    assert faults == ["spool: planted", "elsewhere: told"]
