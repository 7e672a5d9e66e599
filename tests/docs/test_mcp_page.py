"""The page about MCP says what is served."""

import json
import re
from pathlib import Path

import pytest

from bench.clients.catalogue import STACKS
from gateway.cli.group import COMMANDS
from gateway.fronts.mcp.listing import PAGE
from gateway.fronts.mcp.messages import MAX_BATCH
from gateway.fronts.mcp.proposals import OWN_MEMBERS, PREFIX
from gateway.fronts.mcp.versions import SUPPORTED
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import serving

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)


async def test_the_call_on_the_page_is_a_call() -> None:
    """Sent as it stands there, with a Host, a length and a key of this gateway."""
    head, _, body = BLOCKS[0].partition("\n\n")
    method, *headers = head.replace("og_…", TOKEN).split("\n")
    async with serving() as served:
        lines = [f"{method} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body.encode())}", *headers]
        status, _, answer = await served.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body.encode())

    assert (status, answer["result"]["isError"]) == (200, False)
    assert answer["result"]["structuredContent"]["data"]["echo"]["order_id"] == "ORD-4471"


def test_the_bridge_on_the_page_is_a_command() -> None:
    """Its command is there, and its environment is that of client commands."""
    ((bridge,),) = (servers.values() for servers in json.loads(BLOCKS[1]).values())

    assert (bridge["command"], set(bridge["args"]) <= set(COMMANDS)) == ("oncegate", True)
    assert bridge["env"].keys() == {"ONCEGATE_URL", "ONCEGATE_KEY"}
    assert len(BLOCKS) == 2


def test_every_member_of_ours_is_on_the_page() -> None:
    """And no other."""
    written = re.findall(
        rf"`{PREFIX}([a-z-]+)`", TEXT.partition("## What a caller may add")[2].partition("The header")[0]
    )

    assert sorted(written) == sorted(OWN_MEMBERS)


@pytest.mark.parametrize("said", [*SUPPORTED, f"{PAGE} a page", f"up to {MAX_BATCH} are served"])
def test_the_numbers_are_those_of_the_code(said: str) -> None:
    """Revisions, page and batch."""
    assert said in TEXT


def test_the_matrix_is_that_of_the_catalogue() -> None:
    """Each client in both scenarios, and one effect through the gateway."""
    rows = re.findall(r"^\| ([^|]+) \| (S1|S9) \| [^|]+ \| [^|]+ \| \*\*(\d)\*\* \|", TEXT, re.MULTILINE)

    assert [(title, scenario) for title, scenario, _ in rows] == [
        (stack.title, scenario) for stack in STACKS for scenario in ("S1", "S9")
    ]
    assert {effects for _, _, effects in rows} == {"1"}
