"""The `approval` section compiled: when a person is asked, what is said, and up to where an approver may say yes."""

import re
from collections.abc import Mapping
from typing import Final, Literal

from gateway.manifest.declared import names_of
from gateway.manifest.model import ApprovalSection, ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import Piece
from gateway.manifest.ports import Expression, ExpressionEngine, Name, NameType
from gateway.manifest.rules import mended, names_for, sentence
from gateway.manifest.tool import ApprovalTerms
from gateway.manifest.yaml_events import Path

_CALLERS: Final = re.compile(r"\bcaller\.attributes\.([A-Za-z_][A-Za-z0-9_]*)")
_APPROVERS: Final = re.compile(r"\bapprover\.attributes\.([A-Za-z_][A-Za-z0-9_]*)")
_ABOUT_THE_APPROVER: Final[Mapping[str, Name]] = {
    "approver.subject": Name(type=NameType.STRING),
    "approver.tenant": Name(type=NameType.STRING),
    "approver.attributes": Name(type=NameType.MAP),
}


def compiled(source: ManifestSource, engine: ExpressionEngine, notes: Notes) -> ApprovalTerms | None:
    """The section compiled; None without one, or after a complaint."""
    section = source.approval
    if section is None:
        return None
    when = _when(section, source, engine, notes)
    limit = _limit(section, source, engine, notes)
    reason: tuple[Piece, ...] = ()
    if section.reason is not None:
        reason = sentence(section.reason, ("approval", "reason"), source, notes)
    if notes.has_errors:
        return None
    return ApprovalTerms(
        when=when,
        when_attributes=()
        if not isinstance(section.when, str)
        else tuple(dict.fromkeys(_CALLERS.findall(section.when))),
        reason=reason,
        approvers=section.approvers,
        limit=limit,
        attributes=() if section.limit is None else tuple(dict.fromkeys(_APPROVERS.findall(section.limit))),
        expires_after_s=section.expires_after,
    )


def _when(
    section: ApprovalSection, source: ManifestSource, engine: ExpressionEngine, notes: Notes
) -> Expression | Literal[True] | None:
    if section.when is None or section.when is True:
        return section.when
    path: Path = ("approval", "when")
    found = _condition(section.when, path, names_for(source.arguments, {}), engine, notes)
    if found is not None and not isinstance(engine.compile(section.when, {}, boolean=True), tuple):
        notes.error(path, "approval", "this looks at nothing of the call; write `when: true`, or use args or caller")
    return found


def _limit(
    section: ApprovalSection, source: ManifestSource, engine: ExpressionEngine, notes: Notes
) -> Expression | None:
    if section.limit is None:
        return None
    path: Path = ("approval", "limit")
    names = names_of(source.arguments)
    found = _condition(section.limit, path, {**names, **_ABOUT_THE_APPROVER}, engine, notes)
    if found is not None and not isinstance(engine.compile(section.limit, names, boolean=True), tuple):
        notes.error(path, "approval", "this looks at nothing of the approver; compare with `approver.attributes.NAME`")
    return found


def _condition(
    text: str, path: Path, names: Mapping[str, Name], engine: ExpressionEngine, notes: Notes
) -> Expression | None:
    result = engine.compile(text, names, boolean=True)
    if isinstance(result, tuple):
        notes.expression(path, mended(result, names))
        return None
    return result
