"""JSON that can be read in one way only: what a model, or somebody between, sends with two meanings is refused."""

import json
from typing import Any, Never


def read_strictly(text: str | bytes) -> Any:
    """What the text holds.

    Raises:
        ValueError: it is not JSON (a `json.JSONDecodeError` says where), an object has the same name twice, or a
            number is not finite.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has the same name twice")
    return members


def _refuse(_: str) -> Never:
    raise ValueError("a number is not finite")
