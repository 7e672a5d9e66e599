"""`oncegate import mcp` against a server on a real socket."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import Result

from tests.gateway.adapters.mcp_tool.server import LIST, McpServer
from tests.gateway.cli.run import run
from tests.gateway.pipeline.provider import answer

ANSWERS = """\
identity: {fields: [order]}
holds: {order: order}
unknown: {owner: payments, runbook: "https://runbooks.example/refund"}
"""
REFUND = {
    "name": "refund",
    "inputSchema": {"type": "object", "required": ["order"], "properties": {"order": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


@pytest.fixture
async def server() -> AsyncIterator[McpServer]:
    """It shows two tools."""
    made = McpServer(tools=[REFUND, LIST])
    await made.start()
    yield made
    await made.stop()


async def typed(server: McpServer, *words: str, **environment: str) -> Result:
    """The command against the server, in a thread of its own."""
    return await asyncio.to_thread(
        run, "import", "mcp", f"{server.origin}/mcp", *words, environment={"SHOP": "s3cret", **environment}
    )


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25", "2025-03-26"])
async def test_without_out_nothing_is_written_and_no_tool_is_called(server: McpServer, revision: str) -> None:
    """The table says what would be."""
    server.revision = revision
    result = await typed(server)
    assert result.exit_code == 0, result.output
    assert "2 wait for a decision, 0 refused" in result.stdout
    assert "nothing was written" in result.stderr
    assert server.asked_for["tools/call"] == 0


async def test_a_draft_loads_when_its_questions_are_answered(server: McpServer, tmp_path: Path) -> None:
    """From the server to a directory that `oncegate check` passes; the hint of the server made nothing a read."""
    out = tmp_path / "tools"
    header = "Authorization: Bearer ${secret:SHOP}"
    words = ("--out", str(out), "--owner", "payments", "--prefix", "shop", "--only", "refund", "--header", header)
    written = await typed(server, *words)
    assert written.exit_code == 0, written.output
    assert {it.headers["authorization"] for it in server.requests} == {"Bearer s3cret"}
    draft = out / "refund.yaml"
    assert "s3cret" not in draft.read_text()
    assert 'owner: "payments"' in draft.read_text()
    assert f"SHOP_URL={server.origin}" in written.stderr
    asked = run("check", str(out), "--manifest-env", "SHOP_URL", environment={"SHOP_URL": server.origin})
    draft.write_text(draft.read_text() + ANSWERS)
    answered = run("check", str(out), "--manifest-env", "SHOP_URL", environment={"SHOP_URL": server.origin})
    assert (asked.exit_code, answered.exit_code) == (1, 0), answered.output
    again = await typed(server, *words)
    assert (again.exit_code, "there already and differs" in again.stderr) == (2, True)


async def test_programs_get_json(server: McpServer) -> None:
    """Each tool with what became of it."""
    said = json.loads((await typed(server, "--json")).stdout)
    assert said["ok"] is True
    assert [(row["shown"], row["tool"]) for row in said["tools"]] == [("refund", "refund"), ("refunds", "refunds")]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--owner", "a b"), 2, "no name of a team"),
        (("--header", "Authorization"), 2, "NAME: VALUE"),
        (("--stdio", "x"), 2, "its URL, or --stdio"),
        (("--header", "A: ${secret:MISSING}"), 2, "MISSING"),
        (("--header", "A: {args.x}"), 2, "nothing of a call"),
        (("--only", "refnd"), 1, "did you mean `refund`"),
    ],
)
async def test_what_is_wrong_is_said_in_a_sentence(
    server: McpServer, words: tuple[str, ...], code: int, says: str
) -> None:
    """With an exit code, and never a traceback."""
    result = await typed(server, *words)
    assert (result.exit_code, says in result.stderr) == (code, True), result.output


@pytest.mark.parametrize(("url", "code"), [("ftp://x", 2), ("http://127.0.0.1:1/mcp", 3), ("http://u@h/mcp", 2)])
def test_a_server_that_is_none(url: str, code: int) -> None:
    """A URL that is none is usage; one where nobody answers is unreachable."""
    result = run("import", "mcp", url)
    assert result.exit_code == code
    assert "Traceback" not in result.output


@pytest.mark.parametrize(("status", "code"), [(401, 1), (403, 1), (500, 3)])
async def test_a_server_that_wants_a_credential_is_a_no_and_the_option_is_named(
    server: McpServer, status: int, code: int
) -> None:
    """It has answered: 3 would say that nobody did."""
    server.revision = "2025-11-25"
    server.questions["initialize"] = answer(status, {})
    result = await typed(server)
    assert (result.exit_code, "--header 'Authorization: Bearer ${secret:NAME}'" in result.stderr) == (code, code == 1)


def test_the_url_is_not_shown_as_required() -> None:
    """`--stdio` stands in its place."""
    assert "Usage: oncegate import mcp [OPTIONS] [URL]\n" in run("import", "mcp", "--help").stdout


async def test_a_server_without_tools_is_a_no(server: McpServer) -> None:
    """There is nothing to draft."""
    server.tools = []
    result = await typed(server)
    assert (result.exit_code, "the server shows no tool" in result.stdout) == (1, True)


PROGRAM = Path(__file__).parents[1] / "adapters" / "mcp_tool" / "stdio_server.py"


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-06-18"])
def test_a_program_is_asked_for_its_tools(tmp_path: Path, revision: str) -> None:
    """Its words and its environment are in the drafts, the secret by reference."""
    command = shlex.join([sys.executable, str(PROGRAM), str(tmp_path / "ledger"), revision])
    out = tmp_path / "tools"
    kept = ("--env", "TOKEN=${secret:SHOP}", "--owner", "payments", "--prefix", "shop")
    words = ("--stdio", command, *kept, "--out", str(out), "--only", "refund")
    result = run("import", "mcp", *words, environment={"SHOP": "s3cret"})
    assert result.exit_code == 0, result.output
    assert f"--mcp-commands {sys.executable}" in result.stderr
    draft = (out / "refund.yaml").read_text()
    assert "s3cret" not in draft
    assert all(
        word in draft
        for word in (
            'owner: "payments"',
            "shop:write",
            "${secret:SHOP}",
            str(PROGRAM),
            revision,
            f'command: "{sys.executable}"',
        )
    )
    assert "R-1" not in (tmp_path / "ledger").read_text()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 2, "its URL, or --stdio"),
        (("--stdio", ""), 2, "no program"),
        (("--stdio", "'a"), 2, "no program"),
        (("--stdio", "nowhere-to-be-found"), 3, "gave no list of tools"),
        (("--stdio", "a", "--env", "TOKEN"), 2, "NAME=VALUE"),
    ],
)
def test_a_program_that_is_none(words: tuple[str, ...], code: int, says: str) -> None:
    """A sentence and an exit code."""
    result = run("import", "mcp", *words)
    assert (result.exit_code, says in result.stderr) == (code, True), result.output
