"""What a certification sends, from the words of a command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.cli.certifying.probe import Probe
from gateway.cli.exits import Exit, Failure
from gateway.cli.proposal import parse_words
from gateway.manifest.tool import Tool
from gateway.stages.validate.arguments import accept
from gateway.stages.validate.verdict import Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be sent.

    Attributes:
        arguments: accepted ones, which the downstream carries out.
        other: with another body, under the same key; None: there is nothing to differ in.
        refused: which the downstream refuses; None: not checked.
        patience_s: a key's window up to this long is waited out.
    """

    arguments: Mapping[str, Any]
    other: Mapping[str, Any] | None = None
    refused: Mapping[str, Any] | None = None
    patience_s: float = 60.0


def order(probe: Probe, words: Sequence[str], other: Sequence[str], refused: Sequence[str], patience_s: float) -> Order:
    """The arguments of every request. `other` and `refused` are changes to those of `words`.

    Raises:
        Failure: USAGE, for words or arguments that cannot be used.
        RenderError: the manifest needs a run or a caller, which a certification does not have.
    """
    given = parse_words(words)
    arguments = _accepted(probe.tool, given, "the arguments")
    changed = _accepted(probe.tool, given | parse_words(other), "--other") if other else None
    if changed is not None and probe.same_request(arguments, changed, "k"):
        raise Failure("--other gives the same request; change an argument that is sent.", Exit.USAGE)
    return Order(
        arguments=arguments,
        other=changed or _other(probe, given),
        refused=_accepted(probe.tool, given | parse_words(refused), "--refused") if refused else None,
        patience_s=patience_s,
    )


def _accepted(tool: Tool, given: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    verdict = accept(tool, given)
    if isinstance(verdict, Accepted):
        return verdict.args
    names = ", ".join(sorted({name for fault in verdict.faults for name in (*fault.names, *map(str, fault.path))}))
    raise Failure(f"{what} are not what {tool.name} takes: {verdict.code.value} ({names}).", Exit.USAGE)


def _other(probe: Probe, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A number that is one more or one less, where that is allowed, is sent, and the look-up is not asked with it."""
    lookup = probe.tool.reconcile.lookup
    asked = set() if lookup is None else {it.path[0] for it in lookup.arguments.references if it.root == "args"}
    arguments = _accepted(probe.tool, given, "the arguments")
    for name in probe.tool.material:
        value = given.get(name)
        if name in asked or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        for changed in (value + 1, value - 1):
            verdict = accept(probe.tool, {**given, name: changed})
            if isinstance(verdict, Accepted) and not probe.same_request(arguments, verdict.args, "k"):
                return verdict.args
    return None
