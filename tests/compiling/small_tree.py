"""A tree like this one, but small: what is compiled of it takes seconds."""

import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
_AS_HERE: Final = (
    "LICENSE",
    "README.md",
    "agent_client/__init__.py",
    "agent_client/py.typed",
    "compiling",
    "gateway/__init__.py",
    "gateway/adapters/__init__.py",
    "gateway/adapters/redis/__init__.py",
    "gateway/adapters/redis/lua/find.lua",
    "gateway/adapters/sqlite/__init__.py",
    "gateway/adapters/sqlite/upgrades/001_operations.sql",
    "gateway/at_rest/__init__.py",
    "gateway/at_rest/json_text.py",
    "gateway/at_rest/naming.py",
    "gateway/contract/__init__.py",
    "gateway/contract/changed.py",
    "gateway/contract/quick.py",
    "gateway/demo/__init__.py",
    "gateway/demo/manifests/issue_refund.yaml",
    "gateway/py.typed",
    "pyproject.toml",
)
SOURCE = '''"""What mypyc would make something else of."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from gateway.contract.changed import changed
from gateway.contract.quick import quick


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """One refund."""

    order: str
    paise: int = 0
    facts: dict[str, int] = field(default_factory=dict)
    value: str = ""


def valued(refund: Refund) -> Refund:
    """Changed by compiled code, in a field of any name."""
    return changed(refund, value="new")


class Refused(ValueError):
    """It was refused."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code


class TooLarge(Refused):
    """It was refused for its size."""

    @property
    def code(self) -> str:
        return "too_large"


def refuse(error: Refused) -> str:
    """The code of a refusal, asked by compiled code."""
    return error.code


async def answered(refuses: bool, told: list[str]) -> None:
    """Wait in a handler."""
    try:
        if refuses:
            raise Refused("no", code="rejected")
    except Refused as refused:
        await asyncio.sleep(0)
        told.append(refused.code)


async def ended(waiting: bool, told: list[str]) -> None:
    """What it is to raise, after a handler that waited."""
    await answered(True, told)
    try:
        if waiting:
            await asyncio.sleep(0)
    finally:
        told.append("at last")


async def shared(told: list[str], later: Callable[[Callable[[str], None]], None]) -> None:
    """Hand on functions that share what this coroutine has, and wait."""

    def tell(what: str) -> None:
        told.append(what)

    later(tell)
    later(lambda what: told.append(what))
    await asyncio.sleep(0)
'''
REFUND = '''"""In a module of its own."""


class Refund:
    """Its fields in some order."""

    def __init__(self, paise: int) -> None:
        {first}
        {second}
'''
ASKS = '''"""In another."""

from gateway.contract.refund import Refund


def paise() -> int:
    """By the place of the field, not by its name."""
    return Refund(5).paise
'''


def plant(root: Path) -> None:
    """The tree, with modules of its own in `gateway.contract`."""
    for name in _AS_HERE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    (root / "gateway/demo/settings.json").write_text("{}", encoding="utf-8")
    (root / "gateway/contract/small.py").write_text(SOURCE, encoding="utf-8")
    plant_refund(root, paise=5, paise_first=True)


def plant_refund(root: Path, *, paise: int, paise_first: bool) -> None:
    """A class, and a module that reaches into it."""
    fields = ["self.paise: int = paise", "self.fee: int = 0"]
    first, second = fields if paise_first else reversed(fields)
    (root / "gateway/contract/refund.py").write_text(REFUND.format(first=first, second=second), encoding="utf-8")
    (root / "gateway/contract/asked.py").write_text(ASKS.replace("5", str(paise)), encoding="utf-8")
