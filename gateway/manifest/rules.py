"""The `rules` section compiled: conditions over typed names, the reads they ask, and what a refusal says."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest.complaint import did_you_mean
from gateway.manifest.declared import names_of
from gateway.manifest.model import ManifestSource, RuleSection
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import Environment, Piece, Reference, Secret, TemplateError, parse
from gateway.manifest.policies import Effect, Guards
from gateway.manifest.ports import CompileError, Expression, ExpressionEngine, Name, NameType
from gateway.manifest.requests import check_quotes, check_references
from gateway.manifest.templates import ValueTemplate
from gateway.manifest.tool import Rule, RuleLookup
from gateway.manifest.yaml_events import Path

CODES: Final = frozenset({ErrorCode.OVER_LIMIT, ErrorCode.NOT_OWNER, ErrorCode.RULE_DENIED})
"""The contract's codes that a rule may say. The others are the gateway's word about what it saw happen."""
LOOKED_UP: Final = "lookup.data"
"""The name of a look-up's result."""

_ABOUT_THE_CALL: Final[Mapping[str, Name]] = {
    "caller.subject": Name(type=NameType.STRING),
    "caller.tenant": Name(type=NameType.STRING),
    "caller.attributes": Name(type=NameType.MAP),
    "run.id": Name(type=NameType.STRING, optional=True),
    "run.step": Name(type=NameType.INTEGER, optional=True),
}
_ASKED_WITH: Final = frozenset({"args", "caller", "run"})
_SAID_WITH: Final = frozenset({"args", "caller"})
_ATTRIBUTE: Final = re.compile(r"\bcaller\.attributes\.([A-Za-z_][A-Za-z0-9_]*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']+)'")


def names_for(arguments: Mapping[str, Any], looked_up: Mapping[str, Name]) -> dict[str, Name]:
    """Every name that `require` may use; `looked_up` are those of the look-up's result, none without one."""
    return {**names_of(arguments), **_ABOUT_THE_CALL, **looked_up}


def compiled(source: ManifestSource, engine: ExpressionEngine, notes: Notes) -> tuple[Rule, ...]:
    """The section compiled, in order. After a complaint rules may be missing from it."""
    rules = [_rule(index, section, source, engine, notes) for index, section in enumerate(source.rules)]
    _cheapest_first(source, notes)
    return tuple(rule for rule in rules if rule is not None)


def together(rules: tuple[Rule, ...], source: ManifestSource, engine: ExpressionEngine) -> Mapping[Guards, Expression]:
    """For each moment at which two or more rules ask nobody: one expression that is true where all of these are.

    Its yes is theirs; whatever else it says is nobody's, because it does not tell which of them said so, and because
    what bounds the cost of an expression bounds it, too, where each of them may be within. One that does not compile,
    because it is beyond such a bound, is not there.
    """
    found = {}
    for guards in Guards:
        plain = [rule.require.source for rule in rules if rule.guards is guards and rule.lookup is None]
        # A rule may end in a comment, which ends with its line.
        text = " && ".join(f"({it}\n)" for it in plain)
        if len(plain) > 1 and not isinstance(
            made := engine.compile(text, names_for(source.arguments, {}), boolean=True), tuple
        ):
            found[guards] = made
    return MappingProxyType(found)


def mended(errors: tuple[CompileError, ...], names: Mapping[str, Name]) -> tuple[CompileError, ...]:
    """The engine's complaints with the way to mend them."""
    return tuple(
        CompileError(message=f"{it.message}{_mend(it.message, names)}", line=it.line, column=it.column) for it in errors
    )


def _mend(message: str, names: Mapping[str, Name]) -> str:
    if (unknown := _UNDECLARED.search(message)) is not None:
        name = unknown[1]
        if name.partition(".")[0] == "lookup" and not any(known.startswith("lookup.") for known in names):
            return "; declare the `lookup` whose result this is"
        return f"; {did_you_mean(name, names)}"
    return ""


def _rule(
    index: int, section: RuleSection, source: ManifestSource, engine: ExpressionEngine, notes: Notes
) -> Rule | None:
    path: Path = ("rules", index)
    if source.effect is Effect.READ and notes.has(*path, "guards"):
        message = "a read keeps no record, so every rule of it runs before it; remove `guards`"
        notes.error((*path, "guards"), "no-effect", message, on_key=True)
    code = _code(section.code, path, notes)
    told = sentence(section.message, (*path, "message"), source, notes)
    lookup = _lookup(section, path, source, notes)
    require = _require(section, path, source, engine, notes)
    if require is None or (section.lookup is not None and lookup is None):
        return None
    return Rule(
        index=index,
        name=section.code,
        code=code,
        guards=Guards.ACCESS if source.effect is Effect.READ else section.guards,
        lookup=lookup,
        require=require,
        message=told,
        next_action=None if section.next_action is None else NextAction(section.next_action),
        attributes=tuple(dict.fromkeys(_ATTRIBUTE.findall(section.require))),
        otherwise=section.otherwise,
    )


def _code(name: str, path: Path, notes: Notes) -> ErrorCode:
    if name in CODES:
        return ErrorCode(name)
    if name in {code.value for code in ErrorCode}:
        message = f"`{name}` is the gateway's own word; write `over_limit`, `not_owner` or a name of your own"
        notes.error((*path, "code"), "rule", message)
    return ErrorCode.RULE_DENIED


def sentence(text: str, path: Path, source: ManifestSource, notes: Notes) -> tuple[Piece, ...]:
    """A manifest's sentence for callers, parsed; after a complaint it may be empty."""
    if "{lookup." in text:
        notes.error(path, "rule", "text from a tool never enters a message; say it with `args` and `caller`")
        return ()
    try:
        pieces = parse(text)
    except TemplateError as error:
        notes.template(path, error)
        return ()
    if any(isinstance(piece, Environment | Secret) for piece in pieces):
        notes.error(path, "rule", "callers read this: nothing of the operator's environment may stand in it")
    check_references(notes, path, pieces, source.arguments, _SAID_WITH, lone=False)
    properties = source.arguments.get("properties", {})
    for piece in pieces:
        if isinstance(piece, Reference) and piece.root == "args":
            declared = properties.get(piece.path[0])
            if isinstance(declared, Mapping) and declared.get("x-sensitive"):
                notes.error(path, "rule", f"`{piece.path[0]}` is sensitive and may not be told; remove it")
    return pieces


def _lookup(section: RuleSection, path: Path, source: ManifestSource, notes: Notes) -> RuleLookup | None:
    if section.lookup is None:
        return None
    check_arguments((*path, "lookup", "arguments"), section.lookup.arguments, source, notes)
    try:
        return RuleLookup(tool=section.lookup.tool, arguments=ValueTemplate(section.lookup.arguments))
    except TemplateError:
        return None


def check_arguments(path: Path, value: Any, source: ManifestSource, notes: Notes) -> None:
    """Complain about holes of a look-up's arguments that have no value in a call, or no quotes."""
    check_quotes(notes, path, value)
    if isinstance(value, Mapping):
        for name, member in value.items():
            check_arguments((*path, name), member, source, notes)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            check_arguments((*path, index), item, source, notes)
    elif isinstance(value, str):
        try:
            pieces = parse(value)
        except TemplateError as error:
            notes.template(path, error)
            return
        if any(isinstance(piece, Environment | Secret) for piece in pieces):
            notes.error(path, "template", "the operator's values belong into the backend of the tool that is asked")
        check_references(notes, path, pieces, source.arguments, _ASKED_WITH)


def _require(
    section: RuleSection, path: Path, source: ManifestSource, engine: ExpressionEngine, notes: Notes
) -> Expression | None:
    path = (*path, "require")
    looked_up = {} if section.lookup is None else {LOOKED_UP: Name()}
    names = names_for(source.arguments, looked_up)
    result = engine.compile(section.require, names, boolean=True)
    if isinstance(result, tuple):
        notes.expression(path, mended(result, names))
        return None
    if not isinstance(engine.compile(section.require, {}, boolean=True), tuple):
        notes.error(path, "rule", "this looks at nothing of the call and always says the same; use args or caller")
    elif looked_up and not isinstance(
        engine.compile(section.require, names_for(source.arguments, {}), boolean=True), tuple
    ):
        message = "`require` does not look at `lookup.data`, so nothing is to be asked; use it, or remove `lookup`"
        notes.error((*path[:-1], "lookup"), "no-effect", message, on_key=True)
    return result


def _cheapest_first(source: ManifestSource, notes: Notes) -> None:
    asked: set[Guards] = set()
    for index, section in enumerate(source.rules):
        if section.lookup is not None:
            asked.add(section.guards)
        elif section.guards in asked:
            message = "this rule asks nobody, and stands behind one that does: put it first, and look up less"
            notes.hint(("rules", index), "rule", message)
