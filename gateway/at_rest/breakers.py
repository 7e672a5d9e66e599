"""A breaker as stores keep it: JSON with the scope that it is of."""

from dataclasses import asdict
from typing import Any

import orjson

from gateway.stages.execute.breaker.breaker import Breaker, Forced, State
from gateway.stages.execute.breaker.ports import BreakerStoreAway


def breaker_text(scope: str, breaker: Breaker) -> bytes:
    """The breaker of a scope."""
    return orjson.dumps({"scope": scope, "breaker": asdict(breaker)})


def breaker_of(scope: str, text: bytes | str | None) -> Breaker:
    """The breaker of this text; without one, that of a scope about which nobody wrote.

    Raises:
        BreakerStoreAway: it is another scope's, or was written by a version that this one cannot read.
    """
    if not text:
        return Breaker()
    told: dict[str, Any] = orjson.loads(text)
    if told["scope"] != scope:
        raise BreakerStoreAway
    fields = told["breaker"]
    try:
        forced = fields.pop("forced")
        return Breaker(
            **{**fields, "state": State(fields["state"])},
            forced=None if forced is None else Forced(**{**forced, "to": State(forced["to"])}),
        )
    except (KeyError, TypeError, ValueError) as foreign:
        raise BreakerStoreAway from foreign
