import pytest

from gateway.adapters.otel.instruments import MAX_SERIES, OVERFLOW, Histogram, Instruments, Numbers
from gateway.stages.monitor.metrics import METRICS, TOOL_ATTEMPTS, UNKNOWN, UTILIZATION


def test_there_is_an_instrument_for_every_metric() -> None:
    """The table of metrics is the list of instruments."""
    assert set(Instruments(0).all) == {metric.name for metric in METRICS}


def test_a_counter_counts_by_labels() -> None:
    """Each set of label values has its own number."""
    counter = Numbers(TOOL_ATTEMPTS)
    counter.add(("a", "first", "answered", ""))
    counter.add(("a", "first", "answered", ""), 2)
    counter.add(("a", "retry", "answered", ""))

    assert counter.points == {("a", "first", "answered", ""): 3, ("a", "retry", "answered", ""): 1}


def test_a_gauge_is_what_was_said_last() -> None:
    """Setting replaces; replacing all forgets what is not named."""
    gauge = Numbers(UNKNOWN)
    gauge.set(("a",), 1)
    gauge.set(("a",), 5)

    assert gauge.points == {("a",): 5}
    gauge.replace({("b",): 2})
    assert gauge.points == {("b",): 2}


def test_a_value_on_a_bound_is_inside_it() -> None:
    """Bounds are inclusive, as in both export formats; what is beyond the last goes to infinity."""
    histogram = Histogram(UTILIZATION)
    for value in (0.1, 0.1000001, 1.0, 7.0):
        histogram.record(("a",), value)
    *counts, total = histogram.points["a",]

    assert counts == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    assert total == pytest.approx(8.2000001)


def test_too_many_series_end_up_in_one() -> None:
    """Beyond the limit counts are kept, under one set of labels; the numbers still add up."""
    counter, gauge, histogram = Numbers(UNKNOWN), Numbers(UNKNOWN), Histogram(UTILIZATION)
    for n in range(MAX_SERIES + 10):
        counter.add((str(n),))
        gauge.set((str(n),), 1)
        histogram.record((str(n),), 0.5)

    assert len(counter.points) == len(gauge.points) == len(histogram.points) == MAX_SERIES + 1
    assert counter.points[OVERFLOW,] == 10
    assert sum(histogram.points[OVERFLOW,][:-1]) == 10


def test_an_instrument_is_asked_for_by_its_kind() -> None:
    """A histogram is no counter, and a mistake in the code says so."""
    instruments = Instruments(0)

    with pytest.raises(TypeError, match="is a histogram"):
        instruments.numbers(UTILIZATION)
    with pytest.raises(TypeError, match="is no histogram"):
        instruments.histogram(UNKNOWN)
