from docs.telemetry_tables import PAGE, with_tables
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.stages.monitor.fields import LogField
from gateway.stages.monitor.outcome import Outcome


def test_the_tables_on_the_page_are_those_in_the_code() -> None:
    """Run `python -m docs.telemetry_tables` when this fails."""
    page = PAGE.read_text(encoding="utf-8")

    assert with_tables(page) == page


def test_the_page_names_every_setting_field_and_outcome() -> None:
    """What can be chosen, logged and counted is written down."""
    page = PAGE.read_text(encoding="utf-8")
    words = [*TelemetrySettings.__slots__, *LogField, *Outcome]

    assert not [word for word in words if f"`{word}`" not in page]
