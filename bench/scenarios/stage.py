"""What every scenario stands on: a provider, a target, one order that nobody else uses, and a judge."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from bench.scenarios.target import Call, Kind, Target, Told
from gateway.demo.provider_process import ProviderProcess

AMOUNT_PAISE = 425_000
PATIENCE_S = 12.0
OPEN = frozenset({Kind.UNKNOWN, Kind.IN_PROGRESS})


class Column(StrEnum):
    """Who makes the call, and what the provider offers to the gateway in between."""

    NAIVE = "naive"
    PLAIN = "plain"
    """No key, no look-up: a team owns what stays unknown."""
    KEYED = "keyed"
    LOOKUP = "look-up"


TOOLS = {
    Column.NAIVE: "issue_refund",
    Column.PLAIN: "issue_refund_plain",
    Column.KEYED: "issue_refund_keyed",
    Column.LOOKUP: "issue_refund_lookup",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one scenario in one column.

    Attributes:
        effects: rows in the ledger; None when it did not come to counting them.
        wrong: empty, or what is not right.
    """

    effects: int | None
    told: tuple[Told, ...]
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One scenario in one column."""

    provider: ProviderProcess
    target: Target
    column: Column
    order: str

    def call(self, **changes: Any) -> Call:
        """The one refund that is meant, or the same with other arguments."""
        arguments = {"order_id": self.order, "payment_id": "PAY-1", "amount_paise": AMOUNT_PAISE, **changes}
        return Call(tool=TOOLS[self.column], arguments=arguments, key=f"refund-{self.order}")

    def call_of(self, tool: str, amount_paise: int) -> Call:
        """The same refund by another tool of the scenario manifests."""
        arguments = {"order_id": self.order, "payment_id": "PAY-1", "amount_paise": amount_paise}
        return Call(tool=tool, arguments=arguments, key=f"refund-{self.order}")

    async def ask(self, *, process: int = 0, **changes: Any) -> Told:
        """Make the call once."""
        return await self.target.call(self.call(**changes), process=process)

    async def ask_in(self, arguments: Mapping[str, Any]) -> Told:
        """Make the call in exactly these words."""
        return await self.target.call(Call(tool=TOOLS[self.column], arguments=arguments, key=f"refund-{self.order}"))

    async def same_call_again(self, *, process: int = 0) -> list[Told]:
        """The same call once more and, where there is a gateway, again until it is settled."""
        told = [await self.ask(process=process)]
        return told if self.column is Column.NAIVE else [*told, await self.ask_later(process=process)]

    async def ask_again(self, *, process: int = 0, until_s: float = PATIENCE_S) -> Told:
        """Make the same call again and again until the answer is a settled one, or patience ends."""
        until = time.monotonic() + until_s
        while True:
            told = await self.ask(process=process)
            if told.kind not in OPEN | {Kind.TURNED_AWAY} or time.monotonic() > until:
                return told
            await asyncio.sleep(0.1)

    async def ask_later(self, *, process: int = 0) -> Told:
        """As `ask_again`; where nothing but a person can settle, a second of asking is enough."""
        return await self.ask_again(process=process, until_s=1.0 if self.column is Column.PLAIN else PATIENCE_S)

    async def find(
        self,
        told: list[Told],
        *,
        effects: int = 1,
        others: tuple[str, ...] = (),
        checks: Mapping[str, bool] | None = None,
    ) -> Finding:
        """Count the ledger and judge: the effects, each check by its sentence, and that no result is made up.

        `others` are refunds of the same order that nobody here asked for.
        """
        ledger = [each for each in await self.provider.refunds(self.order) if each not in others]
        wrong = [sentence for sentence, holds in (checks or {}).items() if not holds]
        if len(ledger) != effects:
            wrong.insert(0, f"{len(ledger)} effects, not {effects}")
        wrong += [f"told of {each}, which is not in the ledger" for each in told if _made_up(each, ledger)]
        return Finding(effects=len(ledger), told=tuple(told), wrong="; ".join(wrong))


def _made_up(told: Told, ledger: list[str]) -> bool:
    return told.kind is Kind.DONE and told.refund_id not in ledger


Play = Callable[[Stage], Awaitable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One row of the table.

    Attributes:
        right: the number of effects that is right.
        processes: gateway processes on one store.
        alone: it kills, pauses or deafens something, so it gets a provider and a target of its own.
        options: settings for the target.
        manifests: as `Setting` has them.
    """

    id: str
    title: str
    right: int
    play: Play
    processes: int = 1
    alone: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    manifests: Callable[[Path], Path] | None = None
