"""Sections become policies."""

import pytest

from tests.gateway.manifest.sample import KEYED, compiled, errors


def test_a_replay_marker_is_a_header_and_its_value() -> None:
    """Names compare in lower case, values as they are."""
    key = compiled(KEYED, {"downstream_key.replay_marker": "Idempotent-Replayed:  true"}).downstream_key

    assert key is not None
    assert key.replay_marker == ("idempotent-replayed", "true")


@pytest.mark.parametrize("marker", ["Idempotent-Replayed", ": true", "X:"])
def test_a_marker_that_is_no_header_is_refused(marker: str) -> None:
    """A marker that can never be seen would be a dead field."""
    assert errors(KEYED, {"downstream_key.replay_marker": marker}) == ["downstream-key"]
