"""Who is asked what became of an operation: the read of its look-up as it was when the record was made."""

from gateway.manifest.policies import Effect
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.stages.execute.operation.record import Record


class Readers:
    """Finds the read. What another one answers, at another address, is about another world."""

    def __init__(self, parts: Parts, pins: Pins) -> None:
        self._parts = parts
        self._pins = pins

    async def of(self, record: Record, tool: Tool) -> tuple[Tool | None, Tool | None]:
        """The read that the record names; and the present one of its name, if that is another.

        The first is None where it cannot be loaded any more, or would ask at another place than it did. A record that
        names none was made before that was kept: the present one is its own.
        """
        lookup, digest = tool.reconcile.lookup, record.origin.reader_digest
        present = None if lookup is None else _read(self._parts.tools.catalogue.get(lookup.tool))
        if lookup is None or digest is None:
            return present, None
        own = _read(await self._pins.tool_by(digest, lookup.tool))
        if own is not None and own.backend.request.place != record.origin.reader_place:
            own = None
        return own, None if present is own else present


def _read(tool: Tool | None) -> Tool | None:
    """A tool of that name may have come to write since."""
    return tool if tool is not None and tool.effect is Effect.READ else None
