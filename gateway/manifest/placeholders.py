"""Text with holes: `{args.x}`, `{key}`, `{run.id}`, `{caller.x}`, `${NAME}`, `${secret:NAME}`; `{{` and `}}` are braces."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick

ABSENT: Final = object()
"""What an optional argument that was not given is, so that null stays a value."""

# RenderError.root -> the error code of the call that cannot be rendered.
CODES: Final[Mapping[str, ErrorCode]] = {
    "args": ErrorCode.INVALID_ARGUMENTS,
    "caller": ErrorCode.FORBIDDEN,
    "run": ErrorCode.RUN_ID_REQUIRED,
}

_HOLE: Final = re.compile(r"\{\{|\}\}|\$\{([^{}]*)\}|\{([^{}]*)\}|[{}]")
_ENVIRONMENT: Final = re.compile(r"(secret:)?([A-Z][A-Z0-9_]*)")
_REFERENCE: Final = re.compile(
    r"key|run\.id|args(\.[A-Za-z0-9_-]+)+|caller\.(subject|tenant|attributes(\.[A-Za-z0-9_-]+)+)"
)


class CallerValues(Protocol):
    """What of a caller a template may use; `gateway.contract.call.Caller` has it."""

    @property
    def subject(self) -> str: ...
    @property
    def tenant(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, Any]: ...


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class CallValues:
    """What a template is rendered with. A look-up of a recorded operation has neither run nor caller."""

    args: Mapping[str, Any]
    """Accepted arguments: normalised, defaulted, validated."""
    key: str
    """As `Tool.key_value` gives it."""
    run_id: str | None = None
    caller: CallerValues | None = None


class TemplateError(ValueError):
    """The template is not well-formed.

    Attributes:
        offset: characters from the start of the text to what is wrong.
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


class RenderError(ValueError):
    """This call cannot be rendered; nothing was sent.

    Attributes:
        root: `args`, `caller` or `run`: whose value cannot be used.
        name: the dotted name of the value.
    """

    def __init__(self, message: str, *, root: str, name: str) -> None:
        super().__init__(message)
        self.root = root
        self.name = name

    @property
    def code(self) -> ErrorCode:
        return CODES[self.root]


@dataclass(frozen=True, slots=True)
class Environment:
    """`${NAME}`: a value that the operator lists."""

    name: str


@dataclass(frozen=True, slots=True)
class Secret:
    """`${secret:NAME}`: only in headers, never stored, hashed or logged."""

    name: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A value of the call. `path` is empty for `key`, `("id",)` for `run.id`."""

    root: str
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        return ".".join((self.root, *self.path))

    def read(self, values: CallValues) -> Any:
        """The value, or ABSENT for an optional argument.

        Raises:
            RenderError: there is no run id, or the caller has no such attribute. Leaving these out silently could
                widen a request (a filter by customer that is not there lists everybody's orders).
        """
        if self.root == "args":
            return _reach(values.args, self.path)
        if self.root == "key":
            return values.key
        if self.root == "run":
            found: Any = values.run_id
        elif values.caller is None:
            found = None
        elif self.path[0] == "attributes":
            found = _reach(values.caller.attributes, self.path[1:])
        else:
            found = values.caller.subject if self.path[0] == "subject" else values.caller.tenant
        if found is None or found is ABSENT:
            raise RenderError(f"this call has no {self.name}", root=self.root, name=self.name)
        return found


Piece = str | Environment | Secret | Reference


def _reach(tree: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if (type(tree) is not dict and not isinstance(tree, Mapping)) or part not in tree:
            return ABSENT
        tree = tree[part]
    return tree


def literal(text: str) -> str:
    """The text that is read as these very words, whatever braces are in them."""
    return text.replace("{", "{{").replace("}", "}}")


def parse(text: str) -> tuple[Piece, ...]:
    """Split a text into literal pieces and holes.

    Raises:
        TemplateError: a brace that is neither doubled nor part of a hole, or a hole of an unknown kind.
    """
    pieces: list[Piece] = []
    literal = ""
    at = 0
    for hole in _HOLE.finditer(text):
        literal += text[at : hole.start()]
        at = hole.end()
        if hole.group() in {"{{", "}}"}:
            literal += hole.group()[0]
            continue
        piece = _hole(hole)
        if literal:
            pieces.append(literal)
            literal = ""
        pieces.append(piece)
    literal += text[at:]
    return (*pieces, literal) if literal else tuple(pieces)


def is_reference(name: str) -> bool:
    """Whether a hole may have this in it: `args.x`, `key`."""
    return _REFERENCE.fullmatch(name) is not None


def unquoted(value: object) -> str | None:
    """The name in a hole without quotes, `{args.x}`: to YAML that is a map with one member, which has no value."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, given),) = value.items()
        if given is None and _REFERENCE.fullmatch(name):
            return str(name)
    return None


def _hole(found: re.Match[str]) -> Piece:
    environment, reference = found.groups()
    if environment is not None:
        name = _ENVIRONMENT.fullmatch(environment)
        if name is None:
            message = f"`${{{environment}}}` names no environment variable; write `${{NAME}}` or `${{secret:NAME}}`"
            raise TemplateError(message, found.start())
        return Secret(name[2]) if name[1] else Environment(name[2])
    if reference is not None and _REFERENCE.fullmatch(reference):
        root, *path = reference.split(".")
        return Reference(root, tuple(path))
    if reference is None:
        raise TemplateError("a single brace; write `{{` or `}}` for a literal one", found.start())
    if _ENVIRONMENT.fullmatch(reference):
        raise TemplateError(f"`{{{reference}}}` is nothing of a call; did you mean `${{{reference}}}`?", found.start())
    message = (
        f"`{{{reference}}}` is none of args.NAME, key, run.id, caller.subject, caller.tenant, caller.attributes.NAME"
    )
    raise TemplateError(message, found.start())


def text_of(value: Any, reference: Reference) -> str:
    """A scalar as it stands in a path, a query, a header or a longer text.

    Raises:
        RenderError: the value is null, a list or an object, or was not given.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise RenderError(
        f"{reference.name} must be text, a number or true/false here", root=reference.root, name=reference.name
    )


def join(pieces: tuple[Piece, ...], values: CallValues) -> str:
    """The pieces as one text; the operator's values must have been filled in by `fill`."""
    return "".join(
        text_of(piece.read(values), piece) if isinstance(piece, Reference) else str(piece) for piece in pieces
    )


def fill(pieces: tuple[Piece, ...], environment: Mapping[str, str], secrets: Mapping[str, str]) -> tuple[Piece, ...]:
    """The pieces with the operator's values in place, adjacent texts joined.

    Raises:
        TemplateError: a name that the operator does not list.
    """
    filled: list[Piece] = []
    for piece in pieces:
        new: Piece = piece
        if isinstance(piece, Environment | Secret):
            known, kind = (
                (environment, f"an environment name that the operator lists; add `--manifest-env {piece.name}`")
                if isinstance(piece, Environment)
                else (
                    secrets,
                    f"a secret that the operator has; put the file {piece.name} into `secrets_dir`, or set it",
                )
            )
            if piece.name not in known:
                raise TemplateError(f"{piece.name} is not {kind}")
            new = known[piece.name]
        if isinstance(new, str) and filled and isinstance(filled[-1], str):
            filled[-1] += new
        else:
            filled.append(new)
    return tuple(filled)
