"""Before the first write: the store answers, may be trusted, and keeps no record that a tool in use would lose."""

import logging
from typing import Final

from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins, RevisionError
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError

_log = logging.getLogger("oncegate")

_STARTS_WITHIN_S: Final = 3.0
"""A store that is busy, or starts beside the gateway, is waited for so long."""
_PAUSE_S: Final = 0.2


class Opening:
    """Asks the store until it may be used. Until then reads are served, and nothing that needs a record.

    Attributes:
        missing: why the store is not used yet, for readiness; None: it is.
    """

    def __init__(self, parts: Parts, pins: Pins) -> None:
        self._parts = parts
        self._pins = pins
        self.missing: str | None = None

    async def begin(self) -> bool:
        """Ask for a few seconds. False: it is away, and `later` goes on.

        Raises:
            StoreUnfitError: it answers, and must not be used.
            RevisionError: a manifest would lose the records of its predecessor.
        """
        clock = self._parts.clock
        until = clock.monotonic() + _STARTS_WITHIN_S
        while True:
            try:
                await self._check()
            except StoreUnfitError:
                raise
            except StoreUnavailableError as away:
                if clock.monotonic() >= until:
                    self.missing = _away(away)
                    _log.warning("started without its store, writes are refused: %s", self.missing)
                    return False
            else:
                self._tell_caveats()
                return True
            await clock.sleep(_PAUSE_S)

    async def later(self) -> None:
        """Ask until it may be used. What makes it unfit may be mended, and is told in readiness until then."""
        told: str | None = None
        while self.missing is not None:
            await self._parts.clock.sleep(_PAUSE_S)
            try:
                await self._check()
            except (StoreUnfitError, RevisionError) as unfit:
                self.missing = str(unfit)
                if self.missing != told:
                    told = self.missing
                    _log.error("the store answers and is not used, writes are refused: %s", told)
            except StoreUnavailableError as away:
                self.missing = _away(away)
            else:
                self.missing = None
        _log.info("the store answers: writes are taken")
        self._tell_caveats()

    def require(self) -> None:
        """Let nothing pass that needs a record.

        Raises:
            StoreUnavailableError: the store is not used yet.
        """
        if self.missing is not None:
            raise StoreUnavailableError(self.missing)

    def _tell_caveats(self) -> None:
        for caveat in self._parts.store.caveats:
            _log.warning("%s", caveat)

    async def _check(self) -> None:
        await self._parts.store.check()
        await self._pins.start()


def _away(error: StoreUnavailableError) -> str:
    return f"it has not answered since the start: {str(error) or 'no answer'}"
