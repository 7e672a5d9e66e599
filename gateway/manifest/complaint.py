"""What is wrong with a manifest, where, and how to mend it."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    ERROR = "error"
    """The manifest is not loaded."""
    WARNING = "warning"
    """It is loaded, and somebody should decide that this is meant."""
    HINT = "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One complaint. Line and column are 1-based; column counts characters."""

    severity: Severity
    rule: str
    message: str
    """What is wrong and how to mend it; never a value that could be a credential."""
    file: str
    line: int = 1
    column: int = 1


RULES: Final[Mapping[str, str]] = {
    "yaml": "A manifest is one document of YAML 1.2 core or JSON, without anchors, aliases, merge keys, tags and duplicates.",
    "shape": "Every field has the type, the unit and the range that the format gives it.",
    "unknown-key": "Every key is one of the format's.",
    "schema": "Argument and result schemas are JSON Schema 2020-12 that compiles, without keywords that nothing reads.",
    "openapi": "What a tool sends to an operation of an OpenAPI document is what was reviewed.",
    "mcp": "A tool of an MCP server is reached in one way, and is the one that was reviewed.",
    "template": "A template uses declared values, and each where its type can stand.",
    "url": "The host comes from the operator; values of a call are encoded text behind it.",
    "read-method": "A read changes nothing, whatever its method; by POST it says so, and by no other method that acts.",
    "header": "Headers are well-formed and leave the connection to the gateway.",
    "credential": "Secrets stand in a manifest by reference only: ${secret:NAME}.",
    "expression": "Conditions compile, are boolean and use declared names only.",
    "rule": "A rule looks at the call, asks reads only, and says nothing that a tool wrote.",
    "approval": "Who is asked for approvals is named, may be told from who asks, and is asked about something.",
    "write-identity": "A write says what makes two calls the same operation.",
    "write-settled": "The unknown outcome of a write can be settled: by a key, by a look-up, or by somebody named; or a person allows each call.",
    "identity": "Identity and hold fields are required arguments that can be compared.",
    "identity-form": "Texts that identify an operation are normalised, so that `A ` and `A` are one.",
    "holds": "A write whose unknown outcome nothing can settle holds what it acts on.",
    "no-effect": "A field that would do nothing for this tool is not accepted.",
    "downstream-key": "The downstream's idempotency contract is whole and possible.",
    "lookup": "A look-up singles out this operation, and its silence proves something only if its answer was whole.",
    "lookup-by-key": "A look-up by key or identifier is stronger than a search in a list.",
    "keyed-only": "An unknown outcome that outlives the key's window needs a person, if there is no look-up.",
    "plain-write": "A write without a downstream key is sent again only when it was proved not to have been delivered.",
    "limits": "A budget lets at least one call through.",
    "timeouts": "The waits of a call fit into its total, and leave room for its own latency.",
    "catalogue": "Names are unique, and tools that name one another agree.",
    "revision": "Who changes what identifies an operation raises identity.revision.",
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known one, else all of them."""
    known = list(known)
    if (near := nearest(word, known)) is not None:
        return f"did you mean `{near}`?"
    return f"known are {', '.join(known)}" if known else "there are none"
