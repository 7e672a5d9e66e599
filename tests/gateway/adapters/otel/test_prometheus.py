import pytest

from gateway.adapters.otel.instruments import Instruments
from gateway.adapters.otel.prometheus import prometheus_name, render
from gateway.stages.monitor import metrics as m
from gateway.stages.monitor.metrics import METRICS, Metric
from tests.gateway.adapters.otel.scraped import ScrapeError, read_scrape


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (m.TOOL_DURATION, "gen_ai_execute_tool_duration_seconds"),
        (m.TOOL_CALLS, "oncegate_tool_calls_total"),
        (m.CALLS_ACTIVE, "oncegate_tool_calls_active"),
        (m.UTILIZATION, "oncegate_attempt_timeout_utilization_ratio"),
        (m.RESULT_SIZE, "oncegate_result_size_bytes"),
        (m.UNKNOWN_AGE, "oncegate_operations_unknown_oldest_age_seconds"),
        (m.BREAKER, "oncegate_breaker_state"),
    ],
)
def test_names_follow_opentelemetrys_mapping(metric: Metric, name: str) -> None:
    """Dots become underscores, units are spelled out, counters end in _total."""
    assert prometheus_name(metric) == name


def test_every_metric_is_announced_before_it_has_a_sample() -> None:
    """A dashboard finds each name in the first scrape."""
    families = read_scrape(render(Instruments(0), {"service.name": "oncegate"}))

    assert set(families) == {prometheus_name(metric) for metric in METRICS} | {"target_info"}


def test_labels_are_escaped_and_empty_ones_left_out() -> None:
    """Quotes, backslashes and newlines in a label value do not break the line."""
    instruments = Instruments(0)
    instruments.numbers(m.COST).add(('a"b\\c\nd', ""), 1.5)

    body = render(instruments, {}).decode()

    assert 'oncegate_tool_cost_total{gen_ai_tool_name="a\\"b\\\\c\\nd"} 1.5\n' in body


def test_a_histogram_is_cumulative() -> None:
    """Each bucket counts everything up to its bound; the last is the count."""
    instruments = Instruments(0)
    for value in (0.05, 0.2, 9.0):
        instruments.histogram(m.UTILIZATION).record(("a",), value)

    family = read_scrape(render(instruments, {}))["oncegate_attempt_timeout_utilization_ratio"]
    buckets = [value for (name, _), value in family.samples.items() if name.endswith("_bucket")]

    assert buckets == [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]


@pytest.mark.parametrize(
    "body",
    [
        b"# HELP a x\n# TYPE a gauge\na 1",
        b"# HELP a x\n# TYPE a gauge\na 1\na 2\n",
        b"# TYPE a gauge\na 1\n",
        b'# HELP a x\n# TYPE a gauge\na{b="c" } 1\n',
        b'# HELP a x\n# TYPE a gauge\na{b="\\q"} 1\n',
        b"# HELP a x\n# TYPE a counter\na 1\n",
        b'# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    ],
)
def test_the_reader_of_these_tests_is_strict(body: bytes) -> None:
    """What a lenient scraper would take is refused, so that the other tests mean something."""
    with pytest.raises(ScrapeError):
        read_scrape(body)
