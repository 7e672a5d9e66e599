"""Whose a look-up's candidate may be besides: operations that were done meanwhile, or that nobody knows of yet."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.stages.execute.operation import sighting
from gateway.stages.execute.operation.ports import OperationFilter
from gateway.stages.execute.operation.record import UNSETTLED, Record
from gateway.stages.normalise.stored import stored_identifier

# Candidates are compared with so many operations of each tool; where there are more, only a key tells.
_COMPARED: Final = 1000


class Rivals:
    """Finds the operations whose effect a look-up may show in place of the one that it asks for."""

    def __init__(self, parts: Parts, pins: Pins) -> None:
        self._parts = parts
        self._pins = pins

    async def of(self, record: Record, tool: Tool, *, horizon_s: float) -> sighting.Others:
        """What else a candidate may be, of all tools with the same look-up. To be asked after the candidates were read.

        Args:
            horizon_s: how long before our first send another may have been sent that acts after it.
        """
        lookup, sent_wall = tool.reconcile.lookup, record.first_sent_wall
        if lookup is None or lookup.baseline is None:
            return sighting.NOBODY
        since_wall = (record.created_wall if sent_wall is None else sent_wall) - horizon_s
        asked = _question_of(tool, record)
        taken: set[sighting.Identifier] = set()
        rivals: list[tuple[Tool | None, Record]] = []
        overlooked = False
        for name in {tool.name} | await self._pins.asking(lookup.tool):
            # Those in doubt come first: one that is settled between the two readings is then in both.
            unsettled = await self._unsettled(record.origin.tenant, name)
            done = await self._parts.store.settled_results(record.origin.tenant, name, since_wall, _COMPARED)
            overlooked |= len(done) >= _COMPARED
            overlooked |= len(unsettled) >= _COMPARED and not self._never_doubted_together(tool, name)
            for its in (*unsettled, *done):
                if its.key == record.key:
                    continue
                other = await self._pins.tool_of(its)
                if other is not None and not _looks_with(other, lookup.tool):
                    continue
                # What it did has no identifier any more, and its arguments are gone.
                overlooked |= its.tombstone
                identifier = stored_identifier(its.bodies.result)
                if identifier is not None:
                    taken.add(identifier)
                # One that is not settled may have done more than its identifier says.
                if (identifier is None or its.state in UNSETTLED) and _question_of(other, its) in (None, asked):
                    rivals.append((other, its))
        return sighting.Others(taken=frozenset(taken), rivals=tuple(rivals), overlooked=overlooked)

    async def _unsettled(self, tenant: str, tool: str) -> tuple[Record, ...]:
        """What may have been done, and may still be: what it did has no identifier yet."""
        asked = OperationFilter(tenant=tenant, states=UNSETTLED, tool=tool, limit=_COMPARED)
        return await self._parts.store.list_operations(asked)

    def _never_doubted_together(self, tool: Tool, name: str) -> bool:
        other = tool if name == tool.name else self._parts.tools.catalogue.get(name)
        return other is not None and sighting.never_doubted_together(tool, other)


def _looks_with(tool: Tool, reader: str) -> bool:
    return tool.reconcile.lookup is not None and tool.reconcile.lookup.tool == reader


def _question_of(tool: Tool | None, record: Record) -> Mapping[str, Any] | None:
    """What the look-up is asked for a record; None: its arguments do not give that any more."""
    lookup = None if tool is None else tool.reconcile.lookup
    if tool is None or lookup is None:
        return None
    values = CallValues(args=record.bodies.arguments, key=tool.key_value(record.key))
    try:
        asked: Mapping[str, Any] = lookup.arguments.render(values)
    except RenderError:
        return None
    return asked
