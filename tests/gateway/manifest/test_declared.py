"""What a schema says about one value."""

from gateway.manifest.declared import Declared, find, names_of
from gateway.manifest.ports import Name, NameType

SCHEMA = {
    "type": "object",
    "required": ["a", "deep"],
    "properties": {
        "a": {"type": "string"},
        "n": {"type": "integer", "default": 1},
        "x": {"type": ["string", "null"]},
        "list": {"type": "array"},
        "b": True,
        "open": {"type": "object"},
        "deep": {
            "type": "object",
            "required": ["c"],
            "properties": {"c": {"type": "boolean"}, "d": {"type": "number"}},
        },
    },
}


def test_certain_means_required_or_defaulted_all_the_way() -> None:
    """An optional parent makes its required child optional."""
    assert find(SCHEMA, ("a",)) == Declared(type="string", certain=True)
    assert find(SCHEMA, ("n",)) == Declared(type="integer", certain=True)
    assert find(SCHEMA, ("x",)) == Declared(type=None, certain=False)
    assert find(SCHEMA, ("b",)) == Declared(type=None, certain=False)
    assert find(SCHEMA, ("deep", "c")) == Declared(type="boolean", certain=True)
    assert find(SCHEMA, ("deep", "d")) == Declared(type="number", certain=False)
    assert find(SCHEMA, ("nope",)) is None
    assert find(SCHEMA, ("deep", "nope")) is None
    assert find(SCHEMA, ("open", "any")) == Declared(type=None, certain=False)


def test_only_scalars_may_stand_inside_a_text() -> None:
    """Lists and objects have no one spelling."""
    assert find(SCHEMA, ("a",)).may_be_text  # type: ignore[union-attr]
    assert not find(SCHEMA, ("list",)).may_be_text  # type: ignore[union-attr]


def test_arguments_become_typed_names() -> None:
    """Expressions see each argument with its type, nullable if it may be missing."""
    names = names_of(SCHEMA)

    assert names["args.a"] == Name(type=NameType.STRING)
    assert names["args.n"] == Name(type=NameType.INTEGER)
    assert names["args.x"] == Name(type=NameType.ANY, optional=True)
    assert names["args.list"] == Name(type=NameType.LIST, optional=True)
