"""An answer as the operation record keeps it, so that a replay gives the same `data`, byte for byte."""

import orjson

from gateway.contract.changed import changed
from gateway.contract.envelope import Envelope, Meta, parse_error


def store_answer(envelope: Envelope, identifier: str | int | None = None) -> bytes:
    """What of an envelope belongs to the operation and not to the call that began it: for `Bodies.result`.

    Numbers, order of names and texts come back exactly: orjson writes what it read in the same bytes.

    Args:
        identifier: of what was done, from the result before any view; look-ups of others ask for it, no caller sees it.
    """
    return orjson.dumps(
        {
            "data": envelope.data,
            "error": None if envelope.error is None else envelope.error.to_dict(),
            "truncated": envelope.meta.truncated,
            "fetched_at": envelope.meta.fetched_at,
            "source": envelope.meta.source,
            "warnings": envelope.meta.warnings,
            "identifier": identifier,
        }
    )


def stored_identifier(stored: bytes | None) -> str | int | None:
    """The identifier that was kept with a stored answer, if one was."""
    found = None if stored is None else orjson.loads(stored).get("identifier")
    return found if isinstance(found, str | int) else None


def replay_answer(stored: bytes, meta: Meta) -> Envelope:
    """The stored answer for another call, which `meta` describes. Warnings of both are kept.

    Raises:
        ValueError: `stored` was not written by `store_answer`.
    """
    try:
        answer = orjson.loads(stored)
        error = answer["error"]
        return Envelope(
            ok=error is None,
            data=answer["data"],
            error=None if error is None else parse_error(error),
            meta=changed(
                meta,
                replayed=True,
                recorded=True,
                truncated=answer["truncated"],
                fetched_at=answer["fetched_at"],
                source=answer["source"],
                warnings=(*answer["warnings"], *meta.warnings),
            ),
        )
    except (KeyError, TypeError, ValueError) as broken:
        raise ValueError("not a stored answer") from broken
