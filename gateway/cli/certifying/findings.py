"""What a manifest says of its downstream, what was seen, and whether the two agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    SHOWN = "shown"
    """It was provoked, and the downstream did what the manifest says."""
    FALSE = "false"
    """It was provoked, and the downstream did something else."""
    UNCHECKED = "unchecked"
    """It was not provoked; `seen` says what that would take. Nothing is known of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One claim. `field` is where the manifest makes it."""

    field: str
    says: str
    seen: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Every finding about one tool. `interrupted` says why there are no more of them.

    Attributes:
        acts: how many requests that act were sent; each key stands for one effect at the most.
        unknown: one of them ended without an answer, so that nobody knows whether it acted.
    """

    tool: str
    manifest_digest: str
    against: str
    acts: int
    findings: tuple[Finding, ...]
    interrupted: str | None = None
    unknown: bool = False

    def of(self, verdict: Verdict) -> Sequence[Finding]:
        """The findings with one verdict."""
        return [finding for finding in self.findings if finding.verdict is verdict]

    def document(self) -> dict[str, Any]:
        """The certificate for programs."""
        return {
            "ok": not self.of(Verdict.FALSE) and self.interrupted is None,
            "tool": self.tool,
            "manifest_digest": self.manifest_digest,
            "against": self.against,
            "acts": self.acts,
            "interrupted": self.interrupted,
            "unknown": self.unknown,
            "findings": [
                {"field": it.field, "says": it.says, "seen": it.seen, "verdict": it.verdict.value}
                for it in self.findings
            ],
        }
