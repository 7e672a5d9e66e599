"""Retention: what was stored of settled operations is dropped in time; a tombstone stays."""

import contextlib
from collections import defaultdict
from collections.abc import Mapping

from gateway.pipeline.parts import Parts
from gateway.stages.execute.operation.ports import StoreUnavailableError

_EVERY_S = 600.0


class Forgetting:
    """Each tool by its own manifest's retention; tools that are gone by the operator's."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def run(self) -> None:
        """Forget until cancelled."""
        while True:
            with contextlib.suppress(StoreUnavailableError):
                await self.once()
            await self._parts.clock.sleep(_EVERY_S)

    async def once(self) -> int:
        """One round; how many operations lost their bodies."""
        catalogue = self._parts.tools.catalogue
        by_retention: defaultdict[float, list[str]] = defaultdict(list)
        for name in await self._parts.store.tools_kept():
            tool = catalogue.get(name)
            by_retention[self._parts.choices.retention_s if tool is None else tool.retention_s].append(name)
        forgotten = 0
        for retention_s, tools in by_retention.items():
            forgotten += await self._parts.store.forget(retention_s=retention_s, tools=tools)
        await self._approvals({tool.name: tool.retention_s for tool in catalogue.tools.values() if tool.approval})
        if not by_retention:
            # Rows have a retention of their own, also where no operation has anything to forget.
            await self._parts.store.forget(retention_s=self._parts.choices.retention_s, tools=())
        return forgotten

    async def _approvals(self, retentions: Mapping[str, float]) -> None:
        """Those that have ended: of each tool in its time, of tools that are gone once no retention has a use for them."""
        for tool, retention_s in retentions.items():
            await self._parts.store.forget_approvals(retention_s=retention_s, tool=tool)
        longest_s = max((self._parts.choices.retention_s, *retentions.values()))
        await self._parts.store.forget_approvals(retention_s=longest_s)
