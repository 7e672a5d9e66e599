"""Calls to servers that are real processes: every way for one to end, and what that proves of a write."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.mcp_tool.ports import QUESTION_S
from gateway.adapters.mcp_tool.process import Process
from gateway.adapters.mcp_tool.process_channel import ProcessChannel
from gateway.adapters.mcp_tool.transport import McpToolTransport
from gateway.manifest.policies import Effect, StatusMeaning
from gateway.manifest.tool import McpUpstream
from gateway.stages.execute.attempt.classify import AnswerTerms, classify
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, Phase, WireRequest
from gateway.stages.execute.attempt.outcome import NotSent, Refused, Unknown
from tests.gateway.adapters.mcp_tool.conftest import WatchedClock, limits, upstream
from tests.waiting import PATIENCE_S, eventually, turns

PROGRAM = Path(__file__).with_name("stdio_server.py")
REFUND = {"name": "refund", "description": "Refund an order.", "inputSchema": {"type": "object"}}
MODERN = "2026-07-28"


@dataclass(slots=True)
class Local:
    """A transport and the server that it starts."""

    transport: McpToolTransport
    clock: WatchedClock
    ledger: Path

    def mcp(self, revision: str = MODERN, *more: str, **changes: Any) -> McpUpstream:
        """The reviewed tool of the process."""
        command = (sys.executable, str(PROGRAM), str(self.ledger), revision, *more)
        return replace(upstream(REFUND, command=command), **changes)

    async def exchange(
        self, how: str = "works", mcp: McpUpstream | None = None, bounds: Limits | None = None, gate: Gate | None = None
    ) -> Exchange:
        """One call that ends like this."""
        named = mcp or self.mcp()
        body = orjson.dumps({"name": named.tool, "arguments": {"how": how, "amount": 5}})
        request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
        return await self.transport.exchange(request, bounds or limits(), gate)

    async def outcome(self, how: str, bounds: Limits | None = None, effect: Effect = Effect.WRITE) -> str:
        """What it proves, in a line."""
        ended = await self.exchange(how, None, bounds)
        proved = classify(ended, AnswerTerms(effect=effect, mcp=self.mcp()), wall=0.0)
        more = " again" if isinstance(proved, NotSent | Refused) and proved.retryable else ""
        return f"{type(proved).__name__} {proved.code or ''}{more}".strip()

    def lines(self) -> list[Any]:
        """The ledger."""
        return [json.loads(line) for line in self.ledger.read_text().splitlines()] if self.ledger.exists() else []

    def done(self) -> list[Any]:
        """What was done."""
        return [it for it in self.lines() if isinstance(it, dict)]

    def runs(self) -> list[int]:
        """The process ids of every start."""
        return [it[1] for it in self.lines() if isinstance(it, list) and it[0] == "started"]


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[Local]:
    """Nothing of it runs when the test has ended."""
    clock = WatchedClock()
    inner = HttpToolTransport(clock, egress=EgressPolicy(()))
    transport = McpToolTransport(inner, clock, commands=(sys.executable, "nowhere-to-be-found"))
    made = Local(transport=transport, clock=clock, ledger=tmp_path / "ledger")
    yield made
    await transport.aclose()
    await gone(*made.runs())


async def gone(*pids: int) -> None:
    """Wait until none of them runs."""
    await eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.parametrize("revision", [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"])
async def test_a_call_is_carried_out_in_every_revision(local: Local, revision: str) -> None:
    """By one process, which is started when it is first needed and serves the calls that follow."""
    for number in (1, 2, 3):
        ended = await local.exchange(mcp=local.mcp(revision))
        assert (ended.phase, ended.fault) == (Phase.COMPLETE, None)
        assert ended.answer is not None
        assert json.loads(ended.answer.body) == {"id": f"R-{number}", "key": None, "n": 5}
    assert (len(local.runs()), len(local.done())) == (1, 3)


async def test_an_old_server_that_says_nothing_to_a_new_question_is_initialized(local: Local) -> None:
    """Silence is no word against an older revision."""
    assert (await local.exchange(mcp=local.mcp("silent"))).fault is None


async def test_a_new_server_that_was_still_starting_is_asked_again(local: Local) -> None:
    """It says that it knows nothing of `initialize`; by then it can be asked what it does know."""
    assert (await local.exchange(mcp=local.mcp("slow"))).fault is None
    assert len(local.runs()) == 1


ENDS = {
    "works": "Done",
    "noise": "Done",
    "dies": "Unknown outcome_unknown",
    "dies before": "Unknown outcome_unknown",
    "killed": "Unknown outcome_unknown",
    "closes its output": "Unknown outcome_unknown",
    "says half": "Unknown outcome_unknown",
    "too long": "Unknown outcome_unknown",
    "error": "Unknown downstream_error_unknown_outcome",
    "is_error": "Unknown downstream_error_unknown_outcome",
    "long": "Unknown outcome_unknown",
    "invalid": "Unknown downstream_error_unknown_outcome",
}


@pytest.mark.parametrize("how", ENDS)
async def test_what_the_end_of_a_write_proves(local: Local, how: str) -> None:
    """From the first byte in the pipe on, only an answer proves anything; the next call is carried out all the same."""
    assert await local.outcome(how) == ENDS[how]
    assert await local.outcome("works") == "Done"
    ended = how in {"dies", "dies before", "killed", "closes its output", "says half", "too long"}
    assert len(local.runs()) == (2 if ended else 1)


async def test_a_server_that_says_nothing_leaves_the_write_open(local: Local) -> None:
    """It is left alone, and told nothing: it may still be at it."""
    await local.exchange()
    assert await local.outcome("silent", limits(total_s=0.2)) == "Unknown timeout_unknown_outcome"
    assert await local.outcome("works") == "Done"
    assert len(local.runs()) == 1


async def test_a_read_waits_no_longer_than_it_may(local: Local) -> None:
    """`read_s` is its patience."""
    await local.exchange()
    began = time.monotonic()
    bounds = limits(total_s=30.0, read_s=0.1)
    assert await local.outcome("silent", bounds, Effect.READ) == "Unknown downstream_timeout"
    assert time.monotonic() - began < 10


async def test_a_read_whose_answer_is_too_large_says_so(local: Local) -> None:
    """The read fails with `result_too_large`; nothing of what came is kept."""
    assert await local.outcome("long", effect=Effect.READ) == "Done result_too_large"


async def test_a_process_that_does_not_read_is_ended(local: Local) -> None:
    """Half a message in its pipe would spoil all that come behind it, and must not be read later."""
    await local.exchange()
    (pid,) = local.runs()
    os.kill(pid, signal.SIGSTOP)
    named = local.mcp()
    body = orjson.dumps({"name": named.tool, "arguments": {"text": "x" * 2_000_000}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    ended = await local.transport.exchange(request, limits(write_s=0.1))
    assert (ended.phase, ended.fault, ended.written) == (Phase.SENT, Fault.WRITE_TIMEOUT, False)
    await gone(pid)
    assert len(local.done()) == 1


@pytest.mark.parametrize("reads", [True, False])
async def test_a_write_that_nobody_has_read_at_its_end_is_taken_back(local: Local, *, reads: bool) -> None:
    """A stopped process would act on it when it goes on, and by then another may have acted in its place."""
    pid, _ = await stopped(local)
    bounds = limits(total_s=0.2, linger_reset=not reads)
    ended = await local.exchange(bounds=bounds)
    assert (ended.phase, ended.fault) == (Phase.SENT, Fault.READ_TIMEOUT)
    if reads:
        os.kill(pid, signal.SIGCONT)
    else:
        await gone(pid)
    assert (await local.exchange()).fault is None
    assert (len(local.runs()), len(local.done())) == ((1, 3) if reads else (2, 2))


async def test_a_write_that_is_cancelled_is_taken_back_too(local: Local) -> None:
    """Whatever ends the listening."""
    pid, process = await stopped(local)
    call = asyncio.create_task(local.exchange(bounds=limits(total_s=PATIENCE_S)))
    await eventually(lambda: bool(process._awaited))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gone(pid)
    assert len(local.done()) == 1


# Answers a call of which it has read the beginning: `python -c EARLY ERROR-OR-RESULT`.
EARLY = """
import json, os, re, signal, sys
got = b""
while len(got) < 1000:
    got += os.read(0, 1000 - len(got))
ident = int(re.search(rb'"id":(\\d+)', got)[1])
answer = {"error": {"code": -32602, "message": "no"}} if sys.argv[1] == "error" else {"result": {"content": []}}
os.write(1, json.dumps({"jsonrpc": "2.0", "id": ident, **answer}).encode() + b"\\n")
signal.pause()
"""


@pytest.mark.parametrize("answer", ["error", "result"])
@pytest.mark.parametrize("size", [5_000, 300_000])
@pytest.mark.parametrize("errors", [{}, {-32602: StatusMeaning.REFUSED}])
async def test_an_answer_to_half_a_message_is_not_the_answer(
    local: Local, answer: str, size: int, errors: dict[int, StatusMeaning]
) -> None:
    """The rest is not written behind it, nor read if it is in the pipe: the process is ended."""
    early = ProcessChannel((sys.executable, "-c", EARLY, answer), {}, local.clock)
    assert await early.open() is None
    process = early._process
    assert process is not None
    await stop(process._child.pid)
    named = local.mcp(errors=errors)
    body = orjson.dumps({"name": "refund", "arguments": {"text": "x" * size}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    call = asyncio.create_task(early.call(request, MODERN, limits(total_s=PATIENCE_S), None, time.monotonic()))
    await eventually(lambda: bool(process._awaited))
    os.kill(process._child.pid, signal.SIGCONT)
    ended = await call
    alive, waiting = process.alive, process._input.waiting
    await early.aclose()
    assert (ended.phase, ended.answer, ended.written) == (Phase.SENT, None, False)
    assert isinstance(classify(ended, AnswerTerms(effect=Effect.WRITE, mcp=named), wall=0.0), Unknown)
    assert (alive, waiting) == (False, 0)


async def stopped(local: Local) -> tuple[int, Process]:
    """The server's process after a first call: it takes nothing until SIGCONT."""
    await local.exchange()
    (pid,) = local.runs()
    (server,) = local.transport._processes.values()
    channel = server._channel
    assert isinstance(channel, ProcessChannel)
    assert channel._process is not None
    await stop(pid)
    return pid, channel._process


async def stop(pid: int) -> None:
    """Stop it, and wait until it is: one that is woken by the signal still takes what lies in its pipe."""
    os.kill(pid, signal.SIGSTOP)
    await eventually(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")


@pytest.mark.parametrize(("before_s", "outcome"), [(0.001, None), (0.0, Fault.WRITE_TIMEOUT)])
async def test_a_call_is_not_completed_after_its_end(local: Local, before_s: float, outcome: Fault | None) -> None:
    """A gateway that was stopped finds room in the pipe before its timers run; by then another may have acted in its place."""
    pid, process = await stopped(local)
    bounds, named = limits(total_s=PATIENCE_S, write_s=PATIENCE_S), local.mcp()
    body = orjson.dumps({"name": named.tool, "arguments": {"text": "x" * 2_000_000}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    call = asyncio.create_task(local.transport.exchange(request, bounds))
    await eventually(lambda: process._input.waiting > 0)
    process._input._now = lambda: bounds.ends_at - before_s
    os.kill(pid, signal.SIGCONT)
    ended = await call
    assert (ended.fault, ended.written) == (outcome, outcome is None)
    if outcome is not None:
        assert ended.phase is Phase.SENT
        await gone(pid)
    assert len(local.done()) == (2 if outcome is None else 1)


@pytest.mark.parametrize(("before_s", "done"), [(0.001, 3), (0.0, 2)])
async def test_a_call_that_waits_behind_another_is_not_begun_after_its_time(
    local: Local, before_s: float, done: int
) -> None:
    """Whoever comes after it counts from the moment by which it was sent, or not at all."""
    pid, process = await stopped(local)
    bounds, named = limits(total_s=PATIENCE_S, write_s=PATIENCE_S), local.mcp()
    waits = replace(bounds, send_deadline=bounds.ends_at - PATIENCE_S / 2)
    body = orjson.dumps({"name": named.tool, "arguments": {"text": "x" * 2_000_000}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    first = asyncio.create_task(local.transport.exchange(request, bounds))
    await eventually(lambda: len(process._input._queue) == 1)
    second = asyncio.create_task(local.transport.exchange(request, waits))
    await eventually(lambda: len(process._input._queue) == 2)
    process._input._now = lambda: waits.send_deadline - before_s
    os.kill(pid, signal.SIGCONT)

    assert (await first).fault is None
    assert ((await second).fault is None) == (done == 3)
    assert len(local.done()) == done


@pytest.mark.parametrize("command", ["nowhere-to-be-found", sys.executable])
async def test_a_program_that_cannot_serve_is_not_sent(local: Local, command: str) -> None:
    """It is not there, or ends at once."""
    words = (command,) if command != sys.executable else (command, "-c", "pass")
    ended = await local.exchange(mcp=local.mcp(command=words))
    assert (ended.phase, ended.fault) == (Phase.CONNECTING, Fault.CONNECT_FAILED)


async def test_a_program_that_the_operator_does_not_list_is_not_started(local: Local, tmp_path: Path) -> None:
    """A manifest cannot start what it likes."""
    proof = tmp_path / "proof"
    ended = await local.exchange(mcp=local.mcp(command=("/usr/bin/touch", str(proof))))
    assert (ended.phase, ended.fault) == (Phase.CONNECTING, Fault.EGRESS_REFUSED)
    assert not proof.exists()


async def test_the_gate_is_asked_before_the_first_byte(local: Local) -> None:
    """What it refuses does not reach the pipe; nor does what it allows too late."""

    async def refuses() -> float | None:
        raise RuntimeError

    async def too_late() -> float | None:
        return time.monotonic() - 1

    refused = await local.exchange(gate=refuses)
    assert (refused.phase, refused.fault) == (Phase.CONNECTED, Fault.GATE_REFUSED)
    assert isinstance(refused.cause, RuntimeError)
    late = await local.exchange(gate=too_late)
    assert (late.phase, late.fault) == (Phase.CONNECTED, Fault.DEADLINE)
    assert local.done() == []


async def test_a_process_that_dies_while_the_gate_is_asked_is_not_sent(local: Local) -> None:
    """The gate's mark is taken back by the proof that nothing left."""
    await local.exchange()
    (pid,) = local.runs()
    (server,) = local.transport._processes.values()
    epoch = server._channel.epoch

    async def dies() -> float | None:
        os.kill(pid, 9)
        await eventually(lambda: server._channel.epoch != epoch)
        return None

    ended = await local.exchange(gate=dies)
    assert (ended.phase, ended.fault) == (Phase.CONNECTED, Fault.CONNECTION_LOST)


async def left(local: Local, tmp_path: Path) -> tuple[int, int]:
    """The process ids of a server, after a first call, and of a daemon that holds the server's output open."""
    program, pidfile = tmp_path / "leaves.py", tmp_path / "daemon"
    program.write_text(
        "import pathlib, runpy, subprocess, sys\n"
        "quiet = subprocess.DEVNULL\n"
        "daemon = subprocess.Popen(['sleep', '600'], stdin=quiet, stderr=quiet, start_new_session=True)\n"
        f"with open({str(pidfile)!r}, 'a') as file: file.write(f'{{daemon.pid}}\\n')\n"
        f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')\n"
    )
    await local.exchange(mcp=leaving(local, tmp_path))
    (pid,) = local.runs()
    return pid, int(pidfile.read_text())


def leaving(local: Local, tmp_path: Path) -> McpUpstream:
    """The tool of the server that leaves a daemon behind."""
    return local.mcp(command=(sys.executable, str(tmp_path / "leaves.py"), str(local.ledger), MODERN))


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[None]:
    """None of those that `left` has started runs when the test has ended."""
    yield
    for pid in (tmp_path / "daemon").read_text().split():
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.usefixtures("daemons")
@pytest.mark.parametrize("writes", [True, False])
async def test_a_server_that_left_a_daemon_with_its_output_is_started_again(
    local: Local, tmp_path: Path, *, writes: bool
) -> None:
    """It is the server that has to be alive, not whoever holds the other end of a pipe."""
    pid, daemon = await left(local, tmp_path)
    os.kill(pid, signal.SIGKILL)
    await gone(pid)
    bounds = limits(total_s=PATIENCE_S, linger_reset=writes)
    ended = await local.exchange(mcp=leaving(local, tmp_path), bounds=bounds)
    if ended.fault is Fault.CONNECTION_LOST:
        # The loop had not heard of its end.
        ended = await local.exchange(mcp=leaving(local, tmp_path), bounds=bounds)
    assert (ended.phase, ended.fault, len(local.runs())) == (Phase.COMPLETE, None, 2)
    os.kill(daemon, 0)


@pytest.mark.usefixtures("daemons")
async def test_a_write_that_a_server_had_in_its_pipe_when_it_died_is_not_unsent(local: Local, tmp_path: Path) -> None:
    """It was alive when it was written to, and may have acted."""
    pid, _ = await left(local, tmp_path)
    bounds = limits(total_s=0.5)
    named = leaving(local, tmp_path)
    body = orjson.dumps({"name": named.tool, "arguments": {"how": "dies"}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    ended = await local.transport.exchange(request, bounds)
    await gone(pid)
    assert (ended.phase, ended.fault) == (Phase.SENT, Fault.READ_TIMEOUT)
    assert len(local.done()) == 2


CLOSES = """
import os, signal
os.close(0)
os.write(1, b'{"id": 1, "result": {}}\\n')
signal.pause()
"""


@pytest.fixture
async def closed(local: Local) -> AsyncIterator[ProcessChannel]:
    """To a server that has closed its input: to a pipe it is as one whose end is not known yet."""
    channel = ProcessChannel((sys.executable, "-c", CLOSES), {}, local.clock)
    assert await channel.open() is None
    assert channel._process is not None
    assert await asyncio.wait_for(channel._process.expect(1), PATIENCE_S) is not None
    yield channel
    await channel.aclose()


async def test_a_write_that_meets_a_closed_pipe_is_not_sent(local: Local, closed: ProcessChannel) -> None:
    """Nothing of it can have been read: it is sent again, to a server that is started anew."""
    epoch, named = closed.epoch, local.mcp()
    body = orjson.dumps({"name": named.tool, "arguments": {}})
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=body, mcp=named)
    ended = await closed.call(request, MODERN, limits(total_s=0.5), None, time.monotonic())
    assert (ended.phase, ended.fault, ended.written) == (Phase.CONNECTED, Fault.CONNECTION_LOST, False)
    proved = classify(ended, AnswerTerms(effect=Effect.WRITE, mcp=named), wall=0.0)
    assert isinstance(proved, NotSent)
    assert proved.retryable
    assert closed.epoch == epoch + 1


async def test_a_question_that_meets_a_closed_pipe_waits_for_no_answer(closed: ProcessChannel) -> None:
    """The next one is for a server that is started anew."""
    epoch, began = closed.epoch, time.monotonic()
    heard = await closed.ask("tools/list", {}, MODERN)
    assert (heard.trouble is None, closed.epoch) == (False, epoch + 1)
    assert time.monotonic() - began < QUESTION_S


async def test_a_gate_that_was_begun_is_not_cancelled(local: Local) -> None:
    """A commit may be under way."""
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def gate() -> float | None:
        begun.set()
        await may_end.wait()
        ended.set()
        return None

    task = asyncio.create_task(local.exchange(gate=gate))
    await begun.wait()
    task.cancel()
    await turns()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert local.done() == []


async def test_a_changed_tool_is_not_called(local: Local) -> None:
    """The server says so itself; a new process shows the reviewed tool again."""
    assert await local.outcome("changes") == "Done"
    assert await local.outcome("works") == "NotSent tool_quarantined"
    (pid,) = local.runs()
    os.kill(pid, 9)
    await gone(pid)
    local.clock.ahead_s += 6
    assert await local.outcome("works") == "Done"
    assert local.transport.quarantined == frozenset()


async def test_a_server_whose_tools_change_at_every_look_is_called(local: Local) -> None:
    """It was asked after each of its words but the last; who waited for silence would wait for ever."""
    for _ in range(2):
        assert (await local.exchange(mcp=local.mcp(MODERN, "restless"))).fault is None


async def test_the_environment_is_small(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the manifest gives it, the path and the locale; nothing else of the gateway's."""
    monkeypatch.setenv("ONCEGATE_SEAL_KEY", "k1:secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    ended = await local.exchange("env", local.mcp(env={"TOKEN": "s3cret"}))
    assert ended.answer is not None
    seen = json.loads(ended.answer.body)
    assert (seen["TOKEN"], seen["LANG"]) == ("s3cret", "C.UTF-8")
    assert set(seen) <= {"TOKEN", "LANG", "PATH", "LC_ALL", "TZ", "LC_CTYPE"}


async def test_arguments_reach_the_program(local: Local) -> None:
    """Each as one word, whatever is in it."""
    await local.exchange(mcp=local.mcp(MODERN, "a b", "$HOME; rm"))
    assert local.lines()[0][2] == ["a b", "$HOME; rm"]


async def test_what_it_writes_to_its_standard_error_is_nowhere(local: Local, capfd: pytest.CaptureFixture[str]) -> None:
    """It may hold secrets; and a full pipe of it cannot stop the server."""
    ended = await local.exchange("noise")
    assert "s3cret" not in repr(ended)
    assert "s3cret" not in capfd.readouterr().err


async def test_questions_of_the_server_are_answered_with_what_is_offered(local: Local) -> None:
    """That we live, and nothing else."""
    await local.exchange("noise")
    pong, refusal = next(it for it in local.lines() if isinstance(it, list) and isinstance(it[0], dict))
    assert pong == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert (refusal["id"], refusal["error"]["code"]) == ("s", -32601)


async def test_other_commands_and_environments_are_other_processes(local: Local) -> None:
    """A credential is not shared."""
    await asyncio.gather(local.exchange(), local.exchange(mcp=local.mcp(env={"A": "1"})), local.exchange())
    assert len(local.runs()) == 2


async def test_a_channel_can_be_closed_before_it_was_opened(local: Local) -> None:
    """And asked, and told: there is no process."""
    channel = ProcessChannel(local.mcp().command, {}, local.clock)
    channel.tools_changed = True
    assert not channel.tools_changed
    assert (await channel.ask("tools/list", {}, MODERN)).trouble is not None
    assert await channel.tell("notifications/initialized", MODERN) is not None
    await channel.aclose()


async def test_a_question_that_is_not_answered_ends(local: Local) -> None:
    """The process is there and says nothing."""
    channel = ProcessChannel((sys.executable, "-c", "import signal; signal.pause()"), {}, local.clock, question_s=0.1)
    assert await channel.open() is None
    heard = await channel.ask("initialize", {}, None)
    assert heard.trouble is not None
    assert "does not answer" in heard.trouble.detail
    await channel.aclose()


async def test_a_request_that_is_none_is_not_sent(local: Local) -> None:
    """A stored request that was damaged is a fault of ours, and escapes as nothing else."""
    named = local.mcp()
    request = WireRequest(method="POST", origin="http://p.stdio.invalid:80", target="/", body=b"[", mcp=named)
    ended = await local.transport.exchange(request, limits())
    assert (ended.phase, ended.fault) == (Phase.CONNECTED, Fault.INTERNAL)
    assert isinstance(ended.cause, ValueError)
    assert local.done() == []
