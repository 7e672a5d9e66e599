"""What docs/runs.md says of tasks, against the program."""

import ast
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.evaluation.failures import Failing
from agent_client.evaluation.scorecard import scorecard
from agent_client.replay import Change
from agent_client.status import Status
from agent_client.timeline import _TELLS
from gateway.cli.runs.stores import KEY_VARIABLE, VARIABLE
from tests.agent_client.conftest import MakeWorld, make_world
from tests.agent_client.evaluation.subjects import any_refund
from tests.agent_client.world import Stepwise, lines_of

__all__ = ["make_world"]

PAGE: Final = (Path(__file__).parents[2] / "docs" / "runs.md").read_text(encoding="utf-8")
BLOCKS: Final = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


async def run(block: str, names: dict[str, Any]) -> None:
    """One block of the page, with what stands before it."""
    code = compile(block, "docs/runs.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if inspect.iscoroutine(waiting := eval(code, names)):  # noqa: S307 - the page is ours
        await waiting


async def test_every_block_of_the_page_runs(make_world: MakeWorld) -> None:
    """In its order: a replay, an evaluation under every fault, a runner that is traced."""
    world = await make_world()

    async def by_order(request: Any) -> Any:
        """Plays the page's case for whatever order the goal names."""
        order = re.findall(r"ORD-\d+", " ".join(message.text for message in request.messages))[0]
        return await Stepwise(*lines_of(order, "p"))(request)

    runner = world.runner(by_order, any_refund())
    await runner.start("refund", goal="Order ORD-9000 was charged twice.", task_id="task-8472-a")
    await runner.run("task-8472-a")
    names: dict[str, Any] = {
        "runner": runner,
        "cheaper_model": by_order,
        "books": SimpleNamespace(refunds=world.refunds),
        "gateway": world.gateway,
        "model": by_order,
        "checkpoints": MemoryCheckpoints(),
        "refund": any_refund(),
        "print": lambda _: None,
    }

    for block in BLOCKS:
        # The page's task has read twice before it decides to write; this one once.
        await run(block.replace("at=2", "at=1"), names)

    assert names["card"].rows[0].completion == 1
    assert [row.recovery for row in names["card"].rows[1:]] == [1] * 5


def test_every_word_of_a_timeline_is_explained() -> None:
    """The words that the lines of the module use, but for statuses, which one row stands for."""
    source = inspect.getsource(inspect.getmodule(_TELLS["admitted"]))  # type: ignore[arg-type]  # it has a module
    words = set(re.findall(r'return "([^"]+)", ', source)) | {"proposed", "intent saved"}
    table = PAGE.split("| word |")[1].split("\n\n")[0]

    assert {word for word in words if f"`{word}`" not in table} == set()
    assert "a status" in table
    assert not words & set(Status)


def test_classes_columns_changes_and_variables_are_named() -> None:
    """Each where it is explained."""
    header = str(scorecard([], [])).splitlines()[2]
    columns = [name.strip() for name in re.split(r"  +", header) if name.strip() not in ("fault", "trials")]

    assert [column for column in columns if f"`{column}`" not in PAGE] == []
    assert [c for c in Failing if c is not Failing.FALSE_SUCCESS and f"`{c}`" not in PAGE] == []
    assert [change for change in Change if f"`{change}`" not in PAGE] == []
    assert (VARIABLE in PAGE, KEY_VARIABLE in PAGE) == (True, True)
