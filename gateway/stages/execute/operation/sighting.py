"""Reads a look-up's answer: which of its candidates are this operation, and whether silence in it means anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from gateway.manifest.ports import EvaluationError, Expression
from gateway.manifest.tool import Lookup, Tool
from gateway.stages.execute.operation.lookups import Sight
from gateway.stages.execute.operation.record import Record

Identifier = str | int


def identifiers(data: Any, lookup: Lookup, arguments: Mapping[str, Any]) -> tuple[Identifier, ...] | None:
    """Every candidate's identifier, for the baseline before a first send. None: the answer cannot be read whole."""
    candidates = candidates_in(data, lookup)
    if candidates is None or not is_complete(data, lookup, {"args": dict(arguments)}):
        return None
    found = [_identifier(lookup.baseline, item, data) for item in candidates]
    return None if any(it is None for it in found) else tuple(_read(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """Other operations that were done meanwhile or are in doubt themselves, as far as a candidate may be theirs.

    Attributes:
        taken: identifiers of what they did: such a candidate is not ours.
        rivals: those of which nobody knows the identifier: done, or not settled yet. Each with its tool; None: it cannot
            be loaded any more.
        overlooked: there may be more of them: only a match by key is safe.
    """

    taken: frozenset[Identifier] = frozenset()
    rivals: tuple[tuple[Tool | None, Record], ...] = ()
    overlooked: bool = False


NOBODY: Final = Others()


def see(
    data: Any,
    tool: Tool,
    record: Record,
    *,
    started_at: float,
    started_wall: float,
    others: Others = NOBODY,
    elsewhere: bool = False,
    older: bool = False,
) -> Sight:
    """What a valid answer shows about `record`. Without a send of ours that is known, only a match by key counts.

    Args:
        data: the look-up's validated raw result, before any view.
        started_at: store clock, when the look-up was sent; `started_wall`: wall clock.
        others: whose candidates are not ours, or may not be.
        elsewhere: it is not the place where the record was made that answered: what is new to us may be old there, and
            its silence means nothing.
        older: it was answered before the look-up was sent: what it shows is there, and its silence means nothing.
    """
    lookup = tool.reconcile.lookup
    candidates = None if lookup is None else candidates_in(data, lookup)
    if lookup is None or candidates is None:
        return blind(record, started_at=started_at, started_wall=started_wall)
    found = [_identifier(lookup.baseline, item, data) for item in candidates]
    values = _values(tool, record, data)
    by_key = {**values, "baseline": _read(found)}
    matches: list[Mapping[str, object]] = []
    doubtful = False
    for item, identifier in zip(candidates, found, strict=True):
        if identifier is not None and identifier in others.taken:
            continue
        verdict = lookup.match.evaluate({**values, "item": item})
        if verdict is True and (
            _is_proved(lookup, item, identifier, by_key)
            # Nobody looked before a send that the store has forgotten: what is new to us may be old.
            or (record.attempts and not elsewhere and not _is_contested(others, item, data))
        ):
            matches.append(item)
        elif verdict is True or isinstance(verdict, EvaluationError):
            # A candidate of which we cannot say whether it is ours makes the silence of the others worthless.
            doubtful = True
    proves = not doubtful and not elsewhere and not older and is_complete(data, lookup, values)
    return Sight(
        matches=tuple(matches),
        proves_absence=proves,
        record=record,
        started_at=started_at,
        started_wall=started_wall,
    )


def blind(record: Record, *, started_at: float, started_wall: float) -> Sight:
    """A look-up that failed, or whose answer cannot be read: it shows nothing."""
    return Sight(matches=(), proves_absence=False, record=record, started_at=started_at, started_wall=started_wall)


def never_doubted_together(tool: Tool, other: Tool) -> bool:
    """Whether a hold keeps an operation of `other` from being in doubt while one of `tool` is whose look-up asks the
    same: both have the hold, and both ask for the thing that is held.
    """
    return any(_asks_for(tool, hold) and _asks_for(other, hold) for hold in tool.holds)


def identifier_of(tool: Tool, result: Any) -> Identifier | None:
    """The identifier of an operation's own raw result, if it can be read like a candidate."""
    lookup = tool.reconcile.lookup
    if lookup is None or not isinstance(result, Mapping):
        return None
    return _identifier(lookup.baseline, result, result)


def candidates_in(data: Any, lookup: Lookup) -> list[Mapping[str, Any]] | None:
    """The candidates of a look-up's answer, one by one. None: they are not where the manifest says."""
    if lookup.items is None:
        return [data] if isinstance(data, Mapping) else None
    node = data
    for name in lookup.items:
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return node if isinstance(node, list) and all(isinstance(item, Mapping) for item in node) else None


def is_complete(data: Any, lookup: Lookup, values: Mapping[str, Any]) -> bool:
    """Whether an answer is the whole list, so that silence in it means something."""
    if lookup.complete_when is None:
        return lookup.items is None
    return lookup.complete_when.evaluate({**values, "data": data}) is True


def _identifier(expression: Expression | None, item: Mapping[str, Any], data: Any) -> Identifier | None:
    if expression is None:
        return None
    value = expression.evaluate({"item": item, "data": data})
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _read(found: list[Identifier | None]) -> list[Identifier]:
    return [it for it in found if it is not None]


def _asks_for(tool: Tool, hold: str) -> bool:
    lookup, argument = tool.reconcile.lookup, tool.holds.get(hold)
    if lookup is None or argument is None:
        return False
    return any(it.root == "args" and it.path == (argument,) for it in lookup.arguments.references)


def _is_proved(lookup: Lookup, item: Mapping[str, Any], identifier: Identifier | None, values: dict[str, Any]) -> bool:
    """Whether a candidate is ours by its key, and not for being new. `values` has them all in the baseline."""
    if lookup.baseline is None:
        return True
    return identifier is not None and lookup.match.evaluate({**values, "item": item}) is True


def _is_contested(others: Others, item: Mapping[str, Any], data: Any) -> bool:
    """Whether another operation could say the same of this candidate."""
    return others.overlooked or any(_may_be_of(tool, record, item, data) for tool, record in others.rivals)


def _may_be_of(tool: Tool | None, record: Record, item: Mapping[str, Any], data: Any) -> bool:
    lookup = None if tool is None else tool.reconcile.lookup
    if tool is None or lookup is None:
        return True
    return lookup.match.evaluate({**_values(tool, record, data), "item": item}) is not False


def _values(tool: Tool, record: Record, data: Any) -> dict[str, Any]:
    first = record.first_sent_wall
    return {
        "data": data,
        "args": dict(record.bodies.arguments),
        "key": tool.key_value(record.key),
        "sent_at": "" if first is None else datetime.fromtimestamp(first, UTC).isoformat(),
        "baseline": list(record.bodies.baseline),
    }
