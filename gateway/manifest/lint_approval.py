"""The rules about approvals across the fields of one manifest: who asks for one, and who is asked."""

from collections.abc import Callable
from typing import Final

from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Effect, Guards, Otherwise, Repeat

_NOBODY: Final = "nobody is named who may approve: add `approval: {approvers: PERMISSION}`"


def _somebody_is_asked(source: ManifestSource, notes: Notes) -> None:
    """What asks for an approval, and the section that says of whom, come together."""
    asks = False
    for index, rule in enumerate(source.rules):
        if rule.otherwise is Otherwise.APPROVAL:
            asks = True
            if source.approval is None and source.effect is not Effect.READ:
                notes.error(("rules", index, "otherwise"), "approval", _NOBODY)
    if source.identity is not None and source.identity.repeat is Repeat.APPROVAL:
        asks = True
        if source.approval is None:
            notes.error(("identity", "repeat"), "approval", _NOBODY)
    if source.approval is not None and source.approval.when is None and not asks:
        message = (
            "nothing ever asks for an approval: add `when`, or `otherwise: approval` to a rule, or `repeat: approval`"
        )
        notes.error(("approval",), "no-effect", message, on_key=True)


def _asked_rules(source: ManifestSource, notes: Notes) -> None:
    for index, rule in enumerate(source.rules):
        if rule.otherwise is not Otherwise.APPROVAL:
            continue
        path = ("rules", index, "otherwise")
        if source.effect is Effect.READ:
            notes.error(path, "no-effect", "only writes are approved; remove `otherwise`", on_key=True)
        elif rule.guards is Guards.ACCESS:
            message = "an access rule says who may know of the operation at all, and no approval changes that"
            notes.error(path, "approval", f"{message}; write `guards: execution`, or remove `otherwise`")
        if rule.next_action is not None:
            message = "who is asked to wait for an approval is told so; remove `next_action`"
            notes.error(("rules", index, "next_action"), "no-effect", message, on_key=True)


def _reason_goes_with_when(source: ManifestSource, notes: Notes) -> None:
    section = source.approval
    if section is None:
        return
    if section.when is not None and section.reason is None:
        message = "say why a person is asked: `reason: Refunds above 1,000 need a support lead.`"
        notes.error(("approval", "when"), "approval", message, on_key=True)
    if section.when is None and section.reason is not None:
        message = "it is told with `when`; a rule has its own message, and a repetition says what was done before"
        notes.error(("approval", "reason"), "no-effect", message, on_key=True)


def _approvers_are_others(source: ManifestSource, notes: Notes) -> None:
    section = source.approval
    if section is not None and section.approvers == source.permission:
        message = f"whoever may call {source.name} may approve the calls of all others; name a permission of its own"
        notes.warning(("approval", "approvers"), "approval", message)


def _repeats_are_kept(source: ManifestSource, notes: Notes) -> None:
    identity = source.identity
    if identity is None or identity.repeat is not Repeat.APPROVAL:
        return
    if source.effect is Effect.IDEMPOTENT and identity.window is None:
        message = (
            "once settled this tool keeps no answer, so nothing is ever repeated; remove `repeat`, or add `window`"
        )
        notes.error(("identity", "repeat"), "no-effect", message, on_key=True)


APPROVAL_RULES: Final[tuple[Callable[[ManifestSource, Notes], None], ...]] = (
    _somebody_is_asked,
    _asked_rules,
    _reason_goes_with_when,
    _approvers_are_others,
    _repeats_are_kept,
)
