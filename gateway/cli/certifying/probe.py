"""Requests of a certification: sent through the gateway's own templates, transport and tables, past every record."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.clock import Clock
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Lookup, Tool
from gateway.stages.execute.attempt.classify import AnswerTerms, classify
from gateway.stages.execute.attempt.deadline import attempt_limits, left_ms
from gateway.stages.execute.attempt.exchange import Answer
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused
from gateway.stages.execute.attempt.ports import ToolTransport
from gateway.stages.execute.attempt.render import render
from gateway.stages.execute.attempt.stored_request import dress
from gateway.stages.execute.operation.sighting import Identifier, candidates_in, identifiers, is_complete
from gateway.stages.normalise.payload import Readable, Unreadable, read
from gateway.stages.validate.arguments import accept
from gateway.stages.validate.verdict import Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request that acts, and its end."""

    outcome: Outcome
    answer: Answer | None
    payload: Readable | Unreadable | None
    elapsed_s: float
    replayed: bool
    """The answer carried the declared marker of a stored one."""

    @property
    def shown(self) -> str:
        """Its end in a few words of our own."""
        if self.answer is not None:
            return f"{self.answer.status}"
        return "nothing was sent" if isinstance(self.outcome, NotSent) else "no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look-up showed.

    Attributes:
        why: why it shows nothing; None if it could be read.
        matches: candidates that `match` takes for the operation.
        identifiers: of every candidate; None without a `baseline`, or where one has none.
        complete: its silence would count.
    """

    why: str | None = None
    matches: int = 0
    identifiers: frozenset[Identifier] | None = None
    complete: bool = False


class Probe:
    """Sends for one tool. `reader` is the tool that its look-up asks."""

    def __init__(self, tool: Tool, reader: Tool | None, transport: ToolTransport, clock: Clock) -> None:
        self.tool = tool
        self._reader = reader
        self._transport = transport
        self._clock = clock
        self.acts = 0

    def same_request(self, one: Mapping[str, Any], other: Mapping[str, Any], key: str) -> bool:
        """Whether two sets of arguments give the same request, so that no downstream could tell them apart."""
        return render(self.tool, self._values(one, key)) == render(self.tool, self._values(other, key))

    async def act(self, arguments: Mapping[str, Any], key: str) -> Sent:
        """Send one request under `key` and wait for its end.

        Raises:
            RenderError: the arguments cannot be rendered; nothing was sent.
        """
        self.acts += 1
        outcome, answer, elapsed_s = await self._exchange(self.tool, self._values(arguments, key))
        payload = None
        if isinstance(outcome, Done) and answer is not None:
            fault = None if self.tool.result is None else self.tool.result.fault
            payload = read(answer, fault=fault, max_bytes=self.tool.limits.result_bytes)
        replayed = isinstance(outcome, Done | Refused) and outcome.replayed
        return Sent(outcome=outcome, answer=answer, payload=payload, elapsed_s=elapsed_s, replayed=replayed)

    async def look(
        self,
        lookup: Lookup,
        arguments: Mapping[str, Any],
        key: str,
        *,
        sent_wall: float,
        baseline: frozenset[Identifier],
    ) -> Look:
        """Ask the declared read once."""
        data = await self._asked(lookup, arguments, key)
        if isinstance(data, str):
            return Look(why=data)
        candidates = candidates_in(data.value, lookup)
        if candidates is None:
            return Look(why="its answer has no list of candidates where the manifest says")
        values = {
            "data": data.value,
            "args": dict(arguments),
            "key": self.tool.key_value(key),
            "sent_at": datetime.fromtimestamp(sent_wall, UTC).isoformat(),
            "baseline": sorted(baseline, key=str),
        }
        verdicts = [lookup.match.evaluate({**values, "item": item}) for item in candidates]
        if any(not isinstance(verdict, bool) for verdict in verdicts):
            return Look(why="`match` has no value for a candidate: a member that it reads is not there")
        whole = is_complete(data.value, lookup, values)
        found = identifiers(data.value, lookup, arguments) if lookup.baseline is not None and whole else None
        return Look(
            matches=sum(verdict is True for verdict in verdicts),
            identifiers=None if found is None else frozenset(found),
            complete=whole,
        )

    async def _asked(self, lookup: Lookup, arguments: Mapping[str, Any], key: str) -> Readable | str:
        reader = self._reader
        if reader is None:
            return "there is no such read"
        try:
            asked = lookup.arguments.render(CallValues(args=arguments, key=self.tool.key_value(key)))
            verdict = accept(reader, asked)
            if not isinstance(verdict, Accepted):
                return f"`{reader.name}` does not take what the look-up asks it with"
            outcome, answer, _ = await self._exchange(reader, CallValues(args=verdict.args, key=""))
        except RenderError as error:
            return f"it cannot be rendered: {error}"
        if not isinstance(outcome, Done) or answer is None:
            return (
                f"`{reader.name}` answered {answer.status}" if answer is not None else f"`{reader.name}` did not answer"
            )
        fault = None if reader.result is None else reader.result.fault
        payload = read(answer, fault=fault, max_bytes=reader.limits.result_bytes)
        return payload if isinstance(payload, Readable) else f"its answer cannot be read: {payload.detail}"

    def _values(self, arguments: Mapping[str, Any], key: str) -> CallValues:
        return CallValues(args=arguments, key=self.tool.key_value(key))

    async def _exchange(self, tool: Tool, values: CallValues) -> tuple[Outcome, Answer | None, float]:
        rendered = render(tool, values)
        now = self._clock.monotonic()
        limits = attempt_limits(
            tool.timeouts,
            effect=tool.effect,
            now=now,
            deadline=now + tool.timeouts.total_s,
            result_bytes=tool.limits.result_bytes,
            fresh_connection=tool.backend.fresh_connection,
        )
        if isinstance(limits, NotSent):
            return limits, None, 0.0
        extra: tuple[tuple[str, str], ...] = ()
        if tool.backend.deadline_header is not None:
            left = left_ms(limits.send_deadline, now=now)
            extra = ((tool.backend.deadline_header, str(left)),)
        request = dress(rendered, extra=extra, secrets=tool.backend.request.secret_headers)
        ended = await self._transport.exchange(request, limits)
        outcome = classify(ended, AnswerTerms.of(tool), wall=self._clock.wall())
        return outcome, ended.answer, ended.elapsed_s
