"""The page about certification shows what the command does."""

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.nursery import forked
from gateway.demo.provider_process import ProviderProcess
from tests.gateway.cli.certifying.bank import Habits, opened
from tests.gateway.cli.certifying.runs import certified
from tests.gateway.cli.run import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "certify.md").read_text(encoding="utf-8")


def command(number: int, url: str, manifests: Path) -> list[str]:
    """A command of the page, against `url` and without its redirection."""
    text = re.findall(r"```\n(oncegate .*?)```", PAGE, re.DOTALL)[number].replace("\\\n", " ").partition(">")[0]
    words = shlex.split(text.replace("https://staging.pay.example", url).replace('"$STAGING_URL"', url))
    return [*words[1:], "--manifests", str(manifests)]


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """The example tools, with look-ups that are confirmed at once."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for file in (ROOT / "tool_manifests").glob("*.yaml"):
        (folder / file.name).write_text(file.read_text().replace("confirm_every: 2s", "confirm_every: 10ms"))
    return folder


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[ProviderProcess]:
    """The demo provider."""
    started = await ProviderProcess.start(tmp_path, launch=forked)
    yield started
    await started.stop()


async def test_the_first_command_acts_on_the_order_it_names(provider: ProviderProcess, manifests: Path) -> None:
    """What the example manifest claims of the demo provider is so, a refusal kept under its key included."""
    await provider.script("ORD-1", {}, {}, {}, {}, {}, {"effect": False, "ending": "answer", "status": 402})
    result = await asyncio.to_thread(run, *command(0, provider.url, manifests))
    kept = [line for line in result.stdout.splitlines() if "downstream_key.caches" in line]

    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in kept] == ["shown"]
    assert await provider.effects("ORD-1") == 2


async def test_the_command_for_a_pipeline_prints_the_document(provider: ProviderProcess, manifests: Path) -> None:
    """`--strict` makes what was not checked a no."""
    result = await asyncio.to_thread(run, *command(1, provider.url, manifests))
    document = json.loads(result.stdout)

    assert result.exit_code == 1
    assert document["ok"] is True
    assert {it["verdict"] for it in document["findings"]} == {"shown", "unchecked"}


async def test_every_claim_that_is_tried_is_on_the_page() -> None:
    """By the field that makes it."""
    with opened(Habits(lists="cut", marks=False)) as bank:
        fields = {finding.field for finding in (await certified(bank)).findings}

    assert [field for field in fields if f"`{field}`" not in PAGE and field.rpartition(".")[2] not in PAGE] == []
