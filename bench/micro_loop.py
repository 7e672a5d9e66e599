"""What a step of the loop costs without network: CPU per step, by where in a 200-step run. Run: python bench/micro_loop.py

Model and gateway answer at once from memory; checkpoints are a real file. The least of several runs counts.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent_client import Limits, LoopState, MemoryCheckpoints, ModelReply, Runner, SQLiteCheckpoints, TaskType, Usage
from agent_client.inference import ModelRequest, ToolRequest
from agent_client.ports import Checkpoints
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.envelope import Envelope, Meta, succeed
from gateway.contract.requests import ToolSummary

STEPS: Final = 200
BAND: Final = 50
RUNS: Final = 5
TARGET_MS: Final = 3.0
_SCHEMA: Final = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
_TOOL: Final = ToolSummary(
    name="lookup_order", version="1", digest="sha256:d", title="t", description="Read one order.", effect="read",
    arguments=_SCHEMA,
)  # fmt: skip
_ORDER: Final = {"customer_id": "cust-3391", "total_paise": 200_000, "notes": "x" * 200}


@dataclass(slots=True)
class Tools:
    """Answers every read from memory."""

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        return (_TOOL,)

    async def call(self, request: CallRequest) -> Envelope:
        meta = Meta(request_id=request.request_id or "r", tool=request.tool, tool_version="1", source="orders")
        return succeed({**_ORDER, **request.arguments}, meta)

    async def prepare(self, request: CallRequest) -> Envelope:
        raise _asked_beyond_reads(f"to prepare {request.tool}")

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        raise _asked_beyond_reads(f"about operation {operation_id or key}")

    async def reconcile(self, operation_id: str) -> Envelope:
        raise _asked_beyond_reads(f"to reconcile operation {operation_id}")

    async def approval(self, approval_id: str) -> ApprovalView | None:
        raise _asked_beyond_reads(f"about approval {approval_id}")


def _asked_beyond_reads(what: str) -> AssertionError:
    """A run of reads that asks for more measures something else than the table says."""
    return AssertionError(f"nothing is written in this benchmark, and its gateway was asked {what}")


@dataclass(slots=True)
class Stopwatch:
    """A model that asks for another order each time, and notes the CPU clock when it is asked."""

    at_s: list[float] = field(default_factory=list)

    async def __call__(self, _: ModelRequest) -> ModelReply:
        self.at_s.append(time.process_time())
        number = len(self.at_s)
        arguments = json.dumps({"order_id": f"ORD-{number}"})
        call = ToolRequest(id=f"c{number}", name="lookup_order", arguments=arguments)
        return ModelReply(tool_calls=(call,), usage=Usage(input_tokens=10, output_tokens=1), raw={"call": arguments})

    def bands_ms(self) -> list[float]:
        """CPU per step in each band of the run."""
        ends = range(BAND, len(self.at_s), BAND)
        return [(self.at_s[end] - self.at_s[end - BAND]) / BAND * 1_000 for end in ends]


async def run(store: Checkpoints, steps: int = STEPS) -> tuple[LoopState, Stopwatch]:
    """One task of so many steps, and one inference more."""
    limits = Limits(max_steps=steps + 1, active_seconds=3_600, max_tokens=10_000_000)
    model: Any = Stopwatch()
    runner = Runner(
        gateway=Tools(), model=model, checkpoints=store, tasks=[TaskType("t", tools=["lookup_order"], limits=limits)]
    )
    await runner.start("t", goal="Look at every order.", task_id="t")
    return await runner.run("t"), model


def best(make: Callable[[Path], Any], runs: int = RUNS) -> list[float]:
    """The least CPU of each band over several runs, in milliseconds a step."""
    seen: list[list[float]] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            store = make(Path(folder))
            _, watch = asyncio.run(run(store))
            seen.append(watch.bands_ms())
            getattr(store, "close", lambda: None)()
    return [min(band) for band in zip(*seen, strict=True)]


def main() -> int:
    """Print the table; 1 when a step costs more than it may."""
    stores: dict[str, Callable[[Path], Any]] = {
        "memory": lambda _folder: MemoryCheckpoints(),
        "sqlite": lambda folder: SQLiteCheckpoints(folder / "runs.db"),
    }
    worst = 0.0
    print(f"CPU a step in ms, least of {RUNS} runs of {STEPS} steps; it may be {TARGET_MS:g}")
    print(
        f"{'checkpoints':12}" + "".join(f"{f'{at}-{at + BAND}':>10}" for at in range(0, STEPS, BAND)) + f"{'growth':>9}"
    )
    for name, make in stores.items():
        bands = best(make)
        worst = max(worst, *bands)
        print(f"{name:12}" + "".join(f"{band:>10.2f}" for band in bands) + f"{bands[-1] / bands[1]:>9.2f}")
    return int(worst > TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())
