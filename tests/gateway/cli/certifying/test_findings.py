"""A certificate for programs."""

from gateway.cli.certifying.findings import Certificate, Finding, Verdict


def certificate(*verdicts: Verdict, interrupted: str | None = None) -> Certificate:
    """One with findings of these verdicts."""
    findings = tuple(Finding(field="f", says="a", seen="b", verdict=verdict) for verdict in verdicts)
    return Certificate(tool="t", manifest_digest="d", against="u", acts=1, findings=findings, interrupted=interrupted)


def test_it_is_ok_when_nothing_is_false_and_nothing_was_cut_off() -> None:
    """What was not checked is told, and is no fault of the provider."""
    assert certificate(Verdict.SHOWN, Verdict.UNCHECKED).document()["ok"] is True
    assert certificate(Verdict.SHOWN, Verdict.FALSE).document()["ok"] is False
    assert certificate(Verdict.SHOWN, interrupted="x").document()["ok"] is False


def test_every_finding_is_in_the_document() -> None:
    """With what the manifest says and what was seen."""
    document = certificate(Verdict.UNCHECKED).document()

    assert document["findings"] == [{"field": "f", "says": "a", "seen": "b", "verdict": "unchecked"}]
    assert (document["tool"], document["against"], document["acts"], document["unknown"]) == ("t", "u", 1, False)
