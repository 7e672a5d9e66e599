"""What the argument schema says about one value, for templates and expressions that use it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.ports import Name, NameType

SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})

_TYPES: Final[Mapping[str, NameType]] = {
    "string": NameType.STRING,
    "integer": NameType.INTEGER,
    "boolean": NameType.BOOLEAN,
    "array": NameType.LIST,
}

ANSWER: Final[Mapping[str, Name]] = {"data": Name()}
"""What `complete_when` and `refused_when` may use: a whole answer."""
ITEM: Final[Mapping[str, Name]] = {**ANSWER, "item": Name()}
"""What `baseline` may use: a candidate, too."""
OURS: Final[Mapping[str, Name]] = {
    **ITEM,
    "key": Name(type=NameType.STRING),
    "sent_at": Name(type=NameType.STRING),
    "baseline": Name(type=NameType.LIST),
}
"""Every name that `match` may use, beside the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One declared value.

    Attributes:
        type: its JSON Schema type, None if it is open or has several.
        certain: it is there in every accepted call.
    """

    type: str | None
    certain: bool

    @property
    def may_be_text(self) -> bool:
        return self.type is None or self.type in SCALARS


def find(schema: Mapping[str, Any], path: tuple[str, ...]) -> Declared | None:
    """The declaration at a path of names, or None if there is none."""
    certain = True
    found: Any = schema
    for name in path:
        properties = found.get("properties") if isinstance(found, Mapping) else None
        if not isinstance(properties, Mapping) or name not in properties:
            # An object whose members are not declared may have any.
            return Declared(type=None, certain=False) if found is not schema and not properties else None
        child = properties[name]
        has_default = isinstance(child, Mapping) and "default" in child
        certain = certain and (name in found.get("required", ()) or has_default)
        found = child
    kind = found.get("type") if isinstance(found, Mapping) else None
    return Declared(type=kind if isinstance(kind, str) else None, certain=certain)


def names_of(schema: Mapping[str, Any]) -> dict[str, Name]:
    """The arguments as names for expressions: `args.NAME`, typed."""
    names = {}
    for argument in schema.get("properties", {}):
        declared = find(schema, (argument,))
        if declared is not None:
            kind = _TYPES.get(declared.type or "", NameType.ANY)
            names[f"args.{argument}"] = Name(type=kind, optional=not declared.certain)
    return names
