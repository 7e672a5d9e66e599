"""The door to the expression language (CEL): conditions of a manifest, compiled once at load."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


class NameType(StrEnum):
    """The type of a name that an expression may use."""

    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    LIST = "list"
    MAP = "map"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One declared name. A dotted name (`args.order_id`) makes a misspelt field an error at load."""

    type: NameType = NameType.ANY
    optional: bool = False
    """It may be absent at evaluation; then it is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationError:
    """The expression had no value: a missing field, an overflow, mixed types. Never to be taken for true or false."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileError:
    """Why the source does not compile, with its place in the source (both 1-based)."""

    message: str
    line: int = 1
    column: int = 1


class Expression(Protocol):
    """A compiled expression. Evaluating never raises."""

    @property
    def source(self) -> str: ...

    def evaluate(self, values: Mapping[str, Any]) -> Any | EvaluationError:
        """The plain value for `values`, keyed by root name (`args`, `item`, `key`, …)."""
        ...


class ExpressionEngine(Protocol):
    def compile(
        self, source: str, names: Mapping[str, Name], *, boolean: bool
    ) -> Expression | tuple[CompileError, ...]:
        """Compile against the declared names; with `boolean`, an expression of another type is an error."""
        ...
