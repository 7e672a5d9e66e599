"""The arguments of one tool: normalised, then defaulted, then validated. Only that form exists afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import jsonschema_rs

from gateway.contract.changed import changed
from gateway.contract.quick import quick
from gateway.manifest.normalisers import normalise
from gateway.manifest.schemas import Validator, compile_schema


class FaultKind(IntEnum):
    """What is wrong with arguments, in the order in which it is told."""

    MISSING = 0
    UNKNOWN = 1
    WRONG_TYPE = 2
    INVALID = 3


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFault:
    """One thing that is wrong.

    Attributes:
        path: keys and indexes from the arguments down to the value (to the object, for missing and unknown members).
        keyword: the JSON Schema keyword that failed.
        names: the missing or the unknown members.
        expected: what the keyword asks for: the type names, the bound, the pattern, the allowed values; of unknown
            members, the declared ones.
        value: what stands at `path`; where members are missing, as it was given, without defaults.
    """

    kind: FaultKind
    path: tuple[str | int, ...]
    keyword: str
    names: tuple[str, ...] = ()
    expected: Any = None
    value: Any = None


_KINDS: Final[Mapping[str, FaultKind]] = {
    "required": FaultKind.MISSING,
    "dependentRequired": FaultKind.MISSING,
    "additionalProperties": FaultKind.UNKNOWN,
    "unevaluatedProperties": FaultKind.UNKNOWN,
    "type": FaultKind.WRONG_TYPE,
}


class _Preparation:
    """What is done to the value at one place of the schema before it is validated."""

    __slots__ = ("defaults", "items", "members", "normalisers")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.normalisers: tuple[str, ...] = tuple(schema.get("x-normalise", ()))
        self.members: dict[str, _Preparation] = {}
        self.defaults: dict[str, Any] = {}
        for name, child in schema.get("properties", {}).items():
            if not isinstance(child, Mapping):
                continue
            prepared = _Preparation(child)
            if prepared:
                self.members[name] = prepared
            if "default" in child:
                self.defaults[name] = prepared.apply(child["default"])
        items = schema.get("items")
        of_items = _Preparation(items) if isinstance(items, Mapping) else None
        self.items = of_items or None

    def __bool__(self) -> bool:
        return bool(self.normalisers or self.members or self.defaults or self.items)

    def apply(self, value: Any) -> Any:
        """The value prepared. The given one is left as it was; what does not change is shared with it."""
        if isinstance(value, str):
            return normalise(value, self.normalisers) if self.normalisers else value
        if (type(value) is dict or isinstance(value, Mapping)) and (self.members or self.defaults):
            prepared = {**self.defaults, **value}
            for name, member in self.members.items():
                if name in value:
                    prepared[name] = member.apply(value[name])
            return prepared
        if isinstance(value, list) and self.items is not None:
            return [self.items.apply(item) for item in value]
        return value


class ArgumentsSchema:
    """Compiled from `arguments` of a manifest.

    Attributes:
        published: the schema as catalogues show it, with `additionalProperties: false` unless it says otherwise.
        names: the declared arguments, in the manifest's order.
        required: those that must be given.
        certain: those that are there in every accepted call: required or with a default.
    """

    __slots__ = ("_preparation", "_validator", "certain", "names", "published", "required")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compile.

        Raises:
            SchemaError: see `compile_schema`.
        """
        closed = "additionalProperties" in schema or "unevaluatedProperties" in schema
        self.published: Mapping[str, Any] = schema if closed else {**schema, "additionalProperties": False}
        self.names: tuple[str, ...] = tuple(schema.get("properties", {}))
        self.required: tuple[str, ...] = tuple(schema.get("required", ()))
        self._validator: Validator = compile_schema(self.published)
        self._preparation = _Preparation(schema)
        self.certain = frozenset(self.required) | frozenset(self._preparation.defaults)

    def prepare(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Normalised and defaulted, not yet validated. Preparing twice changes nothing."""
        prepared: Mapping[str, Any] = self._preparation.apply(arguments)
        return prepared

    def faults(
        self, prepared: Mapping[str, Any], *, given: Mapping[str, Any] | None = None
    ) -> tuple[ArgumentFault, ...]:
        """Everything that is wrong, the kind to tell first in front; empty if the arguments are valid.

        Args:
            given: the arguments as they came. Without them the prepared ones stand for what was supplied.
        """
        if self._validator.is_valid(prepared):
            return ()
        found = [self._completed(_fault(error, prepared), given) for error in self._validator.iter_errors(prepared)]
        return tuple(sorted(found, key=lambda fault: fault.kind))

    def _completed(self, fault: ArgumentFault, given: Mapping[str, Any] | None) -> ArgumentFault:
        match fault.kind:
            case FaultKind.MISSING if given is not None:
                return changed(fault, value=_value_at(given, fault.path))
            case FaultKind.UNKNOWN:
                return changed(fault, expected=_members(self.published, fault.path))
            case _:
                return fault


def _fault(error: jsonschema_rs.ValidationError, arguments: Mapping[str, Any]) -> ArgumentFault:
    keyword = error.kind.name
    facts = error.kind.as_dict()
    path = tuple(error.instance_path)
    if keyword in {"anyOf", "oneOf"} and (branch := _nearest_branch(facts.get("context", ()))):
        # A value that fits no alternative is invalid, whatever the nearest alternative would have called it.
        return changed(_fault(branch[0], arguments), kind=FaultKind.INVALID)
    value = _value_at(arguments, path)
    if keyword == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"] and isinstance(value, Mapping):
        # The validator's word for members of an object that declares none.
        keyword, facts = "additionalProperties", {"unexpected": list(value)}
    names = facts.get("unexpected") or [name for name in (facts.get("property"),) if name is not None]
    expected = next((value for name, value in facts.items() if name not in {"unexpected", "property", "context"}), None)
    return ArgumentFault(
        kind=_KINDS.get(keyword, FaultKind.INVALID),
        path=path,
        keyword=keyword,
        names=tuple(names),
        expected=expected,
        value=value,
    )


def _nearest_branch(context: Any) -> list[jsonschema_rs.ValidationError]:
    branches: list[list[jsonschema_rs.ValidationError]] = [branch for branch in context if branch]
    return min(branches, key=len, default=[])


def _members(schema: Any, path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The declared members of the object at `path`."""
    for part in path:
        if not isinstance(schema, Mapping):
            return ()
        schema = schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
    return tuple(schema.get("properties", ())) if isinstance(schema, Mapping) else ()


def _value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
