from gateway.stages.monitor.capture import captured
from tests.gateway.stages.monitor.samples import SampleTool

ARGUMENTS = {"order_id": "ORD-1", "card": "4111", "note": "n" * 300}


def test_only_what_the_manifest_lists_is_captured() -> None:
    """Arguments that are not listed, or listed and not there, do not appear."""
    assert captured(SampleTool(capture=("order_id", "amount")), ARGUMENTS) == '{"order_id": "ORD-1"}'
    assert captured(SampleTool(), ARGUMENTS) is None


def test_a_sensitive_argument_is_masked_even_then() -> None:
    """The linter refuses such a manifest; this is the second lock."""
    tool = SampleTool(capture=("card",), sensitive=frozenset({"card"}))

    assert captured(tool, ARGUMENTS) == '{"card": "[sensitive]"}'


def test_a_long_value_is_left_out() -> None:
    """A span is no place for texts."""
    assert captured(SampleTool(capture=("note",)), ARGUMENTS) == '{"note": "[too long]"}'
