"""What a wall clock was set forward by."""

import pytest

from gateway.at_rest.wall_steps import WallStep, WallSteps

DAY_S = 86_400.0


def running(offset: float = 1_000.0) -> WallSteps:
    """Clocks that were looked at once, at 0 of the one that is never set."""
    steps = WallSteps()
    steps.look(offset, 0.0)
    steps.changed = False
    return steps


def test_while_the_clocks_run_together_there_is_no_step() -> None:
    """What both count is time, and a difference of half a second is none."""
    steps = running()
    for monotonic, wall in ((10.0, 1_010.4), (5_000.0, 6_000.0), (5_001.0, 6_001.5)):
        steps.look(wall, monotonic)
        assert steps.low <= wall - monotonic <= steps.high
    assert (steps.steps, steps.changed) == ((), False)
    assert (steps.since(0.0), steps.before(6_001.5, 1.5)) == (0.0, 6_000.0)


def test_the_first_reading_is_no_step_and_is_to_be_kept() -> None:
    """Nothing is known before it."""
    steps = WallSteps()
    assert not steps.low <= 1_000.0 <= steps.high
    steps.look(1_000.0, 0.0)
    assert (steps.steps, steps.offset, steps.changed) == ((), 1_000.0, True)


def test_a_step_counts_for_what_was_stamped_before_it() -> None:
    """Of an earlier stamp as much time has passed as took place; of a later one what the clock says."""
    steps = running()
    steps.look(1_020.0 + DAY_S, 20.0)
    assert steps.steps == (WallStep(landed=1_020.0 + DAY_S, by=DAY_S),)
    assert steps.changed
    wall = 1_030.0 + DAY_S
    assert (wall - steps.since(1_010.0)) - 1_010.0 == pytest.approx(20.0)
    stamp = 1_025.0 + DAY_S
    assert wall - steps.since(stamp) == wall
    assert steps.before(wall, 20.0) == pytest.approx(1_010.0)
    assert steps.before(wall, 5.0) == stamp


def test_small_steps_add_up() -> None:
    """A clock that is set a little again and again does not run away."""
    steps = running()
    for number in range(1, 101):
        steps.look(1_000.0 + number * 1.3, float(number))
    wall = 1_130.0
    assert wall - steps.since(1_000.0) == pytest.approx(1_100.0, abs=0.5)


def test_a_clock_set_back_may_be_set_forward_again() -> None:
    """That is a step, too: what was stamped meanwhile is younger than the clock says."""
    steps = running()
    steps.look(1_010.0 - DAY_S, 10.0)
    assert steps.steps == ()
    steps.look(1_020.0, 20.0)
    stamp = 1_015.0 - DAY_S
    assert (1_020.0 - steps.since(stamp)) - stamp == pytest.approx(5.0)


def test_a_witness_shows_what_was_ahead_from_the_start() -> None:
    """Another clock is an hour behind: that hour is no time for what was stamped by then. One that is ahead shows nothing."""
    steps = running(10_000.0)
    steps.witnessed(20_000.0, 1.0)
    steps.witnessed(10_000.6, 1.0)
    steps.look(10_001.0, 1.0)
    assert steps.steps == ()
    steps.witnessed(6_401.0, 1.0)
    steps.look(10_001.0, 1.0)
    assert steps.since(6_000.0) == pytest.approx(3_600.0)
    assert steps.since(10_002.0) == 0.0


def test_another_process_goes_on_with_what_is_known() -> None:
    """With the steps; with where the clocks stood, unless the one that is never set began anew."""
    known = [WallStep(landed=5_000.0, by=100.0)]
    same, booted = WallSteps(), WallSteps()
    same.resume(known, 1_000.0)
    booted.resume(known, None)
    for steps in (same, booted):
        steps.look(9_010.0, 10.0)
    assert [step.by for step in same.steps] == [100.0, 8_000.0]
    assert [step.by for step in booted.steps] == [100.0]
    assert (same.stands_at(9_000.3), same.stands_at(9_001.0)) == (True, False)
    assert not WallSteps().stands_at(0.0)


def test_however_many_steps_there_were_no_window_is_shorter() -> None:
    """The oldest are joined, on the safe side: what was stamped between them is taken for younger."""
    steps = running()
    for number in range(1, 41):
        steps.look(1_000.0 + number * 101.0, float(number))
    assert len(steps.steps) == 16
    wall = 1_000.0 + 40 * 101.0
    for number in range(40):
        stamp = 1_000.0 + number * 101.0
        assert wall - steps.since(stamp) - stamp <= 40 - number + 0.01
    assert wall - steps.since(1_000.0) - 1_000.0 == pytest.approx(40.0)


def test_no_stamp_is_older_than_1970() -> None:
    """Where the steps come to more than the clock says."""
    steps = running(0.0)
    steps.look(DAY_S, 1.0)
    assert steps.before(DAY_S, 100.0) == 0.0
