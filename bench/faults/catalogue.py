"""The rows, in the order and with the counts of the fault matrix."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.faults.approval_faults import approval_race
from bench.faults.crowd_faults import duplicates, open_door, stampede
from bench.faults.rolling import NOTICE_S, patient, rolling_restart
from bench.faults.sentinel_faults import master_hangs, open_watched_site
from bench.faults.site import Conditions, open_site
from bench.faults.store_faults import failed_over, reply_lost, store_away, store_restarted

Open = Callable[[Path, Conditions], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Control:
    """So many runs without a protection, and the violation that it is there to prevent (a pattern in its sentence)."""

    runs: int
    shows: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row.

    Attributes:
        runs: how often, with real processes.
        play: one run on what `open` gives; the sentences that say what is wrong with it.
        controls: by the protection that is taken out: what shows that it goes wrong then.
    """

    id: str
    title: str
    runs: int
    play: Callable[[Any], Awaitable[list[str]]]
    controls: dict[str, Control]
    open: Open = open_site
    conditions: Conditions = field(default_factory=Conditions)


FAULTS = (
    Fault(
        id="F10", title="store refuses, answers nothing, is slow", runs=50, play=store_away,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "2"}),
        controls={
            "fail-open": Control(3, "were sent while the store refuses"),
            "stock-retries": Control(6, "an answer after|no answer, silence|a read was refused"),
        },
    ),
    Fault(
        id="F11", title="a change, or the reply to it, is lost", runs=150, play=reply_lost,
        # Longer than a call: whoever takes its own claim for another's waits in vain.
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "4"}),
        controls={"plain-set-nx": Control(3, "the only caller was told that somebody else is at it")},
    ),
    Fault(
        id="F12", title="store killed; back with everything, or empty", runs=20, play=store_restarted,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "2"}),
        controls={"memory-not-identified": Control(2, "effects of one intention")},
    ),
    Fault(
        id="F13", title="failover that loses the last writes", runs=20, play=failed_over,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "2"}),
        controls={"memory-not-identified": Control(2, "effects of one intention")},
    ),
    Fault(
        id="F13b", title="Sentinel failover: the master hangs, calls go on", runs=20, play=master_hangs,
        open=open_watched_site,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "2"}),
        controls={"closed-pool-cancels": Control(3, "no answer, the connection broke")},
    ),
    Fault(
        id="F15", title="rolling restart of three under load", runs=30, play=rolling_restart,
        conditions=Conditions(gateways=3, manifests=patient, options={"ONCEGATE_DRAIN_NOTICE_S": f"{NOTICE_S:g}"}),
        controls={"no-drain": Control(1, "no answer, the connection broke")},
    ),
    Fault(
        id="F17", title="2 to 64 identical calls at once, 2 gateways", runs=200, play=duplicates,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "4"}),
        controls={"any-writer-wins": Control(10, "effects of one intention")},
    ),
    Fault(
        id="F20", title="one approval: two leads, another amount, its end", runs=50, play=approval_race,
        conditions=Conditions(options={"ONCEGATE_LEASE_S": "4"}),
        controls={
            "approval-for-any-amount": Control(10, "which nobody approved"),
            "approvals-never-lapse": Control(8, "although it had lapsed before the first call"),
        },
    ),
    Fault(
        id="F21", title="half open, 100 callers, 2 gateways, one cold", runs=20, play=stampede, open=open_door,
        controls={"half-open-for-all": Control(1, "reached the provider, not")},
    ),
)  # fmt: skip
