"""Complaints as text, JSON and SARIF."""

import json

from gateway.manifest.complaint import RULES, Complaint, Severity
from gateway.manifest.report import as_json, as_sarif, as_text, exit_code

ERROR = Complaint(severity=Severity.ERROR, rule="lookup", message="Mend é.", file="a/b.yaml", line=3, column=7)
WARNING = Complaint(severity=Severity.WARNING, rule="keyed-only", message="Think.", file="c.yaml")
HINT = Complaint(severity=Severity.HINT, rule="plain-write", message="Know.", file="c.yaml")


def test_text_has_one_line_a_complaint_and_counts_them() -> None:
    """Editors and terminals find `file:line:column`."""
    assert as_text([ERROR, HINT, HINT]) == (
        "a/b.yaml:3:7: error: Mend é. [lookup]\n"
        "c.yaml:1:1: hint: Know. [plain-write]\n"
        "c.yaml:1:1: hint: Know. [plain-write]\n"
        "1 error, 2 hints\n"
    )
    assert as_text([]) == "no complaints\n"


def test_json_has_every_field() -> None:
    """Scripts read the same facts."""
    report = json.loads(as_json([ERROR]))

    assert report["ok"] is False
    assert report["complaints"] == [
        {"severity": "error", "rule": "lookup", "message": "Mend é.", "file": "a/b.yaml", "line": 3, "column": 7}
    ]
    assert json.loads(as_json([WARNING]))["ok"] is True


def test_sarif_describes_each_rule_that_it_uses() -> None:
    """Results point at their rule and their region; a hint is a note."""
    (run,) = json.loads(as_sarif([ERROR, HINT], version="1.2.3"))["runs"]
    driver = run["tool"]["driver"]

    assert driver["version"] == "1.2.3"
    for result in run["results"]:
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["shortDescription"]["text"] == RULES[result["ruleId"]]
    assert [result["level"] for result in run["results"]] == ["error", "note"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "a/b.yaml"}, "region": {"startLine": 3, "startColumn": 7}}


def test_exit_codes_say_whether_it_loads() -> None:
    """0 loads, 1 does not; strict counts warnings."""
    assert exit_code([]) == exit_code([WARNING, HINT]) == 0
    assert exit_code([ERROR]) == exit_code([WARNING], strict=True) == 1
    assert exit_code([HINT], strict=True) == 0
