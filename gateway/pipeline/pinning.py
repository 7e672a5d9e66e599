"""The manifests that records were made with, kept beside them: a changed or removed tool still settles what it began."""

from typing import Any

from gateway.manifest.catalog import reader_named
from gateway.manifest.policies import Effect
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.stages.execute.operation.ports import PinnedManifest
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.feedback.words import ELLIPSIS


class RevisionError(Exception):
    """What identifies an operation was changed without raising `identity.revision`. One sentence."""


class Pins:
    """What the store has pinned, compiled, in memory."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._pinned: dict[str, PinnedManifest] = {}
        self._compiled: dict[str, Tool | None] = {}
        # By the tool's digest, until another manifest is pinned: a write asks for all of it.
        self._kin: dict[str, tuple[PinnedManifest, ...]] = {}
        self._former: dict[str, tuple[Tool, ...]] = {}
        self._asking: dict[str, frozenset[str]] = {}
        self._newest: dict[str, int | None] = {}

    async def start(self) -> None:
        """Learn what earlier processes pinned, and pin the tools in use.

        Raises:
            RevisionError: a tool in use would give an operation of its predecessor another key, or none.
        """
        await self._learn()
        for tool in self._parts.tools.catalogue.tools.values():
            self._check(tool)
            await self.ensure(tool)

    async def ensure(self, tool: Tool) -> None:
        """Pin the manifest of a tool, and of the read that its look-up asks, before a record of it is made. Costs nothing
        when they are pinned.

        Raises:
            RevisionError: it would give an operation of its predecessor another key.
        """
        reader = self._parts.tools.catalogue.reader_of(tool)
        if reader is not None and reader.digest not in self._pinned:
            await self._pin(reader)
        if tool.digest in self._pinned:
            return
        # The tool may have been away for a while: the catalogue before this one knew nothing of its predecessor.
        await self._learn()
        self._check(tool)
        await self._pin(tool)

    async def _pin(self, tool: Tool) -> None:
        manifest = PinnedManifest(
            digest=tool.digest,
            tool=tool.name,
            operation=tool.identity.operation,
            revision=tool.identity.revision,
            canonical=tool.canonical,
        )
        await self._parts.store.pin((manifest,))
        self._remember(manifest)
        self._compiled[tool.digest] = tool

    async def refresh(self) -> None:
        """Learn what other processes have pinned since. Costs one count when that is nothing."""
        if await self._parts.store.pins() != len(self._pinned):
            await self._learn()

    async def successor(self, tool: Tool) -> int | None:
        """The highest revision under which another process already records the tool's operation in another way."""
        await self.refresh()
        if tool.digest not in self._newest:
            newer = (it for it in self._kin_of(tool) if it.revision > tool.identity.revision)
            # What this version cannot load may identify in any way.
            found = (it.revision for it in newer if _differs(self._compile(it), tool))
            self._newest[tool.digest] = max(found, default=None)
        return self._newest[tool.digest]

    def former(self, tool: Tool) -> tuple[Tool, ...]:
        """Earlier forms of a tool, or of its operation, that identify it in another way: their records are its own, too."""
        known = self._former.get(tool.digest)
        if known is not None:
            return known
        found: dict[str, Tool] = {}
        for manifest in self._kin_of(tool):
            if manifest.revision >= tool.identity.revision:
                continue
            earlier = self._compile(manifest)
            if earlier is not None and earlier.identity_digest != tool.identity_digest:
                found[earlier.identity_digest] = earlier
        self._former[tool.digest] = tuple(found.values())
        return self._former[tool.digest]

    async def tool_of(self, record: Record) -> Tool | None:
        """The tool that a record was made with, by whose contract alone it may be settled.

        None when that cannot be loaded any more: another look-up, or another downstream, says nothing of it.
        """
        return await self.tool_by(record.origin.manifest_digest, record.origin.tool)

    async def tool_by(self, digest: str, name: str) -> Tool | None:
        """The tool of exactly this manifest; None when it cannot be loaded any more."""
        current = self._parts.tools.catalogue.get(name)
        if current is not None and current.digest == digest:
            return current
        if digest not in self._pinned:
            # Another process may use manifests that this one has not seen.
            await self._learn()
        manifest = self._pinned.get(digest)
        return None if manifest is None else self._compile(manifest)

    async def arguments_of(self, record: Record) -> dict[str, Any] | None:
        """A record's arguments for a person's eyes, without the values of sensitive ones.

        None when none are kept, or nobody knows any more which are sensitive.
        """
        emptied = record.tombstone or (record.state is State.FREE and not record.attempts)
        tool = None if emptied else await self.tool_of(record)
        if tool is None:
            return None
        return {name: ELLIPSIS if name in tool.sensitive else it for name, it in record.bodies.arguments.items()}

    async def asking(self, reader: str) -> frozenset[str]:
        """Names of the tools that ever had a look-up by that read, in whichever of their manifests."""
        await self.refresh()
        known = self._asking.get(reader)
        if known is None:
            pinned = (it for it in self._pinned.values() if reader_named(it.canonical) == reader)
            known = self._asking[reader] = frozenset(it.tool for it in pinned)
        tools = self._parts.tools.catalogue.tools.values()
        return known | {it.name for it in tools if it.reconcile.lookup and it.reconcile.lookup.tool == reader}

    async def _learn(self) -> None:
        for manifest in await self._parts.store.pinned():
            self._remember(manifest)

    def _remember(self, manifest: PinnedManifest) -> None:
        if manifest.digest not in self._pinned:
            self._pinned[manifest.digest] = manifest
            self._kin.clear()
            self._former.clear()
            self._asking.clear()
            self._newest.clear()

    def _kin_of(self, tool: Tool) -> tuple[PinnedManifest, ...]:
        kin = self._kin.get(tool.digest)
        if kin is None:
            kin = self._kin[tool.digest] = tuple(it for it in self._pinned.values() if _is_kin(it, tool))
        return kin

    def _compile(self, manifest: PinnedManifest) -> Tool | None:
        if manifest.digest not in self._compiled:
            self._compiled[manifest.digest] = self._parts.tools.compile(manifest.canonical)
        return self._compiled[manifest.digest]

    def _check(self, tool: Tool) -> None:
        if tool.effect is Effect.READ:
            return  # it keeps no record, and cannot raise a revision
        for manifest in self._kin_of(tool):
            if manifest.digest == tool.digest:
                continue
            earlier = self._compile(manifest)
            if earlier is None or earlier.identity_digest == tool.identity_digest:
                continue
            if tool.identity.revision <= manifest.revision and manifest.revision == self._latest(tool):
                raise RevisionError(
                    f"{tool.name}: identity, normalisers, operation, holds or effect differ from the manifest that stored "
                    f"records were made with; raise identity.revision above {manifest.revision}, so that these are "
                    "still found, or go back to it."
                )

    def _latest(self, tool: Tool) -> int:
        return max((it.revision for it in self._kin_of(tool)), default=0)


def _differs(other: Tool | None, tool: Tool) -> bool:
    return other is None or other.identity_digest != tool.identity_digest


def _is_kin(manifest: PinnedManifest, tool: Tool) -> bool:
    """Whether what it recorded is the tool's own: the same operation, or that of its name, called otherwise then."""
    return manifest.operation == tool.identity.operation or manifest.tool == tool.name
