"""Complaints and suggestions."""

from gateway.manifest.complaint import RULES, did_you_mean, nearest


def test_the_nearest_word_is_suggested() -> None:
    """A near one is named; otherwise all are."""
    assert nearest("timeout", ["timeouts", "retry"]) == "timeouts"
    assert nearest("zzz", ["timeouts"]) is None
    assert did_you_mean("retri", ["timeouts", "retry"]) == "did you mean `retry`?"
    assert did_you_mean("zzz", ["a", "b"]) == "known are a, b"
    assert did_you_mean("zzz", []) == "there are none"


def test_every_rule_is_a_sentence() -> None:
    """Reports show it beside the complaint."""
    assert all(text.endswith(".") and text[0].isupper() for text in RULES.values())
