from gateway.stages.monitor import attributes as a
from gateway.stages.monitor import metrics
from gateway.stages.monitor.attributes import ATTRIBUTES, MetricKind
from gateway.stages.monitor.metrics import METRICS, Metric

CONVENTIONS = {
    "gen_ai.execute_tool.duration": (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
    "http.server.request.duration": (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10),
    "http.client.request.duration": (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10),
}  # fmt: skip
"""The metrics that OpenTelemetry's conventions define, with the buckets they advise, in seconds."""


def test_conventional_metrics_are_as_the_conventions_say() -> None:
    """Histograms in seconds with the advised buckets."""
    found = {metric.name: metric.buckets for metric in METRICS if not metric.name.startswith("oncegate.")}

    assert found == CONVENTIONS
    assert {metric.unit for metric in METRICS if metric.name in CONVENTIONS} == {"s"}


def test_every_label_is_a_documented_metric_attribute() -> None:
    """No label is missing from the table, and no attribute is called a label in vain."""
    labels = {label for metric in METRICS for label in metric.labels}

    assert labels == {attribute.name for attribute in ATTRIBUTES if "metric" in attribute.on}


def test_nobody_is_named_in_a_metric() -> None:
    """Identifiers of operations, runs and principals would be a series each."""
    labels = {label for metric in METRICS for label in metric.labels}

    assert not labels & {a.OPERATION_ID, a.CONVERSATION_ID, a.USER_HASH, a.URL_TEMPLATE}


def test_the_table_has_every_metric_once() -> None:
    """Each constant is in the table, and no two share a name."""
    constants = [value for value in vars(metrics).values() if isinstance(value, Metric)]

    assert {metric.name for metric in METRICS} == {metric.name for metric in constants}
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_histograms_and_only_they_have_ascending_buckets() -> None:
    """Bounds are sorted and finite; the last bucket is infinity's."""
    for metric in METRICS:
        assert bool(metric.buckets) is (metric.kind is MetricKind.HISTOGRAM), metric.name
        assert list(metric.buckets) == sorted(set(metric.buckets)), metric.name
