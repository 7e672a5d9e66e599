"""`oncegate call`."""

import json

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, parse_envelope, succeed
from tests.gateway.cli.run import run_against
from tests.gateway.cli.unwritten import no_space, nobody_reads, run_into
from tests.gateway.fronts.http.fake_core import FakeCore
from tests.gateway.fronts.http.served import Served, serving

CODES = {CallOutcome.NOT_EXECUTED: 1, CallOutcome.UNKNOWN: 4, CallOutcome.EXECUTED: 5}


async def test_words_become_arguments(served: Served) -> None:
    """`=` gives text, `:=` gives JSON, and the result is printed."""
    result = await run_against(served, "call", "issue_refund", "order_id=ORD-1", "amount_paise:=425000", "note=a=b")

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"echo": {"order_id": "ORD-1", "amount_paise": 425000, "note": "a=b"}}


async def test_every_option_reaches_the_gateway(served: Served) -> None:
    """Run, step, key, attempt, epoch and deadline are those of the call."""
    options = ["--run", "run-7", "--step", "4", "--idempotency-key", "k", "--attempt", "2"]
    await run_against(served, "call", "t", *options, "--store-epoch", "e", "--wait-ms", "1500")

    call, _ = served.core.asked[0]
    assert (call.run_id, call.step, call.idempotency_key, call.attempt) == ("run-7", 4, "k", 2)
    assert (call.store_epoch, call.deadline_ms) == ("e", 1500)


async def test_arguments_may_come_from_a_file(served: Served) -> None:
    """`--arguments -` reads a JSON object from standard input; words are put over it."""
    await run_against(served, "call", "t", "--arguments", "-", "b:=2", stdin='{"a": 1, "b": 1}')

    assert served.core.asked[0][0].arguments == {"a": 1, "b": 2}


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_the_exit_code_says_what_is_known(code: ErrorCode) -> None:
    """1: nothing was executed; 4: unknown; 5: executed. The message is one sentence on standard error."""

    async def refuse(call: ToolCall) -> Envelope:
        return fail(code, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=refuse)) as served:
        result = await run_against(served, "call", "t")

    assert result.exit_code == CODES[FACTS[code].outcome]
    assert result.stdout == ""
    assert result.stderr.strip() == f"error: {code.value}: {FACTS[code].sentence}"


async def test_json_prints_the_envelope_whatever_it_says(served: Served) -> None:
    """With --json standard output is the envelope, for a refusal too, and the exit code is the same."""
    done = await run_against(served, "call", "t", "--json")
    refused = await run_against(served, "call", "a~b", "--json")

    assert (done.exit_code, refused.exit_code) == (0, 1)
    assert parse_envelope(json.loads(done.stdout)).ok is True
    assert parse_envelope(json.loads(refused.stdout)).ok is False
    assert len(done.stdout.splitlines()) == 1


async def test_a_stored_result_is_told_apart() -> None:
    """A replay says so on standard error; standard output is the result alone."""

    async def stored(call: ToolCall) -> Envelope:
        return succeed({"a": 1}, Meta(request_id=call.request_id, replayed=True))

    async with serving(FakeCore(on_call=stored)) as served:
        result = await run_against(served, "call", "t")

    assert json.loads(result.stdout) == {"a": 1}
    assert "stored result" in result.stderr


async def test_a_tool_that_would_leave_its_path_does_not(served: Served) -> None:
    """A tool's name is one path segment, whatever is in it."""
    result = await run_against(served, "call", "../operations?x=")

    assert result.exit_code == 1
    assert "route_not_found" in result.stderr


@pytest.mark.parametrize("words", [("call", "t"), ("call", "t", "--json")])
async def test_a_result_that_cannot_be_written_was_carried_out_all_the_same(
    served: Served, words: tuple[str, ...]
) -> None:
    """On a full disk or into a pipe that nobody reads: 5, and neither a fault of oncegate nor a no."""
    for into in (no_space, nobody_reads):
        with into() as stdout:
            code, said = await run_into(served, stdout, *words)

        assert (code, said.count("\n")) == (5, 1)
        assert said.startswith("error: it was carried out, but its result could not be written: ")


async def test_a_code_is_not_lost_with_the_words(served: Served) -> None:
    """Nothing can be told on either stream; the code is the outcome's."""
    with no_space() as full:
        code, _ = await run_into(served, full, "call", "t", stderr=full)

    assert code == 5


@pytest.mark.parametrize("code", [ErrorCode.DECLINED, ErrorCode.OUTCOME_UNKNOWN])
async def test_a_refusal_that_cannot_be_written_keeps_its_code(code: ErrorCode) -> None:
    """The JSON is lost, and its sentence stands in its place."""

    async def refuse(_: ToolCall) -> Envelope:
        return fail(code, Meta(request_id="r"))

    async with serving(FakeCore(on_call=refuse)) as served:
        with no_space() as stdout:
            ended = await run_into(served, stdout, "call", "t", "--json")

    assert ended[0] == CODES[FACTS[code].outcome]
    assert ended[1].startswith(f"error: {code.value}: ")
