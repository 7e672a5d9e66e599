"""Whose a look-up's candidate may be besides: operations that were done meanwhile, or that nobody knows of yet."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.stages.execute.operation import sighting
from gateway.stages.execute.operation.ports import OperationFilter
from gateway.stages.execute.operation.record import UNSETTLED, Record
from gateway.stages.normalise.stored import stored_identifier

# Candidates are compared with so many operations of each tool; where there are more, only a key tells.
_COMPARED: Final = 1000


class Rivals:
    """Finds the operations whose effect a look-up may show in place of the one that it asks for."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of(self, record: Record, tool: Tool, *, horizon_s: float) -> sighting.Others:
        """What else a candidate may be, of all tools with the same look-up. To be asked after the candidates were read.

        Args:
            horizon_s: how long before our first send another may have been sent that acts after it.
        """
        lookup, sent_wall = tool.reconcile.lookup, record.first_sent_wall
        if lookup is None or lookup.baseline is None:
            return sighting.NOBODY
        since_wall = (record.created_wall if sent_wall is None else sent_wall) - horizon_s
        asked = _asked(tool, record)
        taken: set[sighting.Identifier] = set()
        rivals: list[tuple[Tool, Record]] = []
        overlooked = False
        for other in (tool, *self._alike(tool, lookup.tool)):
            # Those in doubt come first: one that is settled between the two readings is then in both.
            unsettled = await self._unsettled(record.origin.tenant, other)
            done = await self._parts.store.settled_results(record.origin.tenant, other.name, since_wall, _COMPARED)
            overlooked |= len(done) == _COMPARED
            overlooked |= len(unsettled) == _COMPARED and not sighting.never_doubted_together(tool, other)
            for its in (*unsettled, *done):
                if its.key == record.key:
                    continue
                identifier = stored_identifier(its.bodies.result)
                if identifier is not None:
                    taken.add(identifier)
                # One that is not settled may have done more than its identifier says.
                if (identifier is None or its.state in UNSETTLED) and _asked(other, its) in (None, asked):
                    rivals.append((other, its))
        return sighting.Others(taken=frozenset(taken), rivals=tuple(rivals), overlooked=overlooked)

    async def _unsettled(self, tenant: str, tool: Tool) -> tuple[Record, ...]:
        """What may have been done, and may still be: what it did has no identifier yet."""
        asked = OperationFilter(tenant=tenant, states=UNSETTLED, tool=tool.name, limit=_COMPARED)
        return await self._parts.store.list_operations(asked)

    def _alike(self, tool: Tool, reader: str) -> tuple[Tool, ...]:
        tools = self._parts.tools.catalogue.tools.values()
        return tuple(
            it
            for it in tools
            if it.name != tool.name and it.reconcile.lookup is not None and it.reconcile.lookup.tool == reader
        )


def _asked(tool: Tool, record: Record) -> Mapping[str, Any] | None:
    """What the look-up is asked for a record; None: its arguments do not give that any more."""
    lookup = tool.reconcile.lookup
    if lookup is None:
        return None
    values = CallValues(args=record.bodies.arguments, key=tool.key_value(record.key))
    try:
        asked: Mapping[str, Any] = lookup.arguments.render(values)
    except RenderError:
        return None
    return asked
