"""The policies are values."""

from dataclasses import FrozenInstanceError

import pytest

from gateway.manifest.policies import Timeouts


def test_a_policy_cannot_be_changed() -> None:
    """Tools share their policies between calls."""
    with pytest.raises(FrozenInstanceError):
        Timeouts().read_s = 9  # type: ignore[misc]
