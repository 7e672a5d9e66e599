"""Complaints as text, JSON and SARIF 2.1.0."""

import json
from collections.abc import Sequence
from typing import Any, Final

from gateway.manifest.complaint import RULES, Complaint, Severity

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def exit_code(complaints: Sequence[Complaint], *, strict: bool = False) -> int:
    """0: loads; 1: does not. With `strict`, warnings count as errors. (2 is the command's own, for wrong usage.)"""
    severities = {complaint.severity for complaint in complaints}
    return int(Severity.ERROR in severities or (strict and Severity.WARNING in severities))


def as_text(complaints: Sequence[Complaint]) -> str:
    """One line a complaint, `file:line:column: severity: message [rule]`, and a line that counts them."""
    lines = [f"{it.file}:{it.line}:{it.column}: {it.severity.value}: {it.message} [{it.rule}]" for it in complaints]
    counts = [(severity, sum(it.severity is severity for it in complaints)) for severity in Severity]
    summary = ", ".join(f"{count} {severity.value}{'' if count == 1 else 's'}" for severity, count in counts if count)
    return "\n".join([*lines, summary or "no complaints"]) + "\n"


def as_json(complaints: Sequence[Complaint]) -> str:
    """A JSON object with `ok` and the complaints, each with the fields of `Complaint`."""
    return _dumps(
        {
            "ok": exit_code(complaints) == 0,
            "complaints": [
                {
                    "severity": it.severity.value,
                    "rule": it.rule,
                    "message": it.message,
                    "file": it.file,
                    "line": it.line,
                    "column": it.column,
                }
                for it in complaints
            ],
        }
    )


def as_sarif(complaints: Sequence[Complaint], *, version: str) -> str:
    """SARIF 2.1.0, for code hosts that show complaints beside the lines of a change. `version` is OnceGate's."""
    used = [rule for rule in RULES if any(it.rule == rule for it in complaints)]
    driver = {
        "name": "oncegate",
        "version": version,
        "rules": [{"id": rule, "shortDescription": {"text": RULES[rule]}} for rule in used],
    }
    results = [
        {
            "ruleId": it.rule,
            "ruleIndex": used.index(it.rule),
            "level": _LEVELS[it.severity],
            "message": {"text": it.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": it.file},
                        "region": {"startLine": it.line, "startColumn": it.column},
                    }
                }
            ],
        }
        for it in complaints
    ]
    return _dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
        }
    )


def _dumps(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
