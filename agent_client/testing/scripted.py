"""`scripted`: a model that says what a test, or an example, has written down for it."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_client.inference import ModelReply, ModelRequest, ModelTrouble, ToolRequest, Usage

Line = ModelReply | ModelTrouble | Callable[[ModelRequest], ModelReply] | str | tuple[str, Any]
"""A reply; trouble to raise; a function of the request; a text; or a tool's name with its arguments: a mapping, or
the raw string as a model would write it."""


class ScriptOver(AssertionError):  # noqa: N818 - what happened to the script
    """The model was asked once more than it has lines, or was not asked for all of them."""


class Scripted:
    """A model; `scripted` makes one.

    Attributes:
        requests: what it was asked, in order.
    """

    def __init__(self, lines: Sequence[Line], usage: Usage) -> None:
        self._lines = tuple(lines)
        self._usage = usage
        self.requests: list[ModelRequest] = []

    def __repr__(self) -> str:
        return f"<Scripted line {len(self.requests)} of {len(self._lines)}>"

    async def __call__(self, request: ModelRequest) -> ModelReply:
        """The next line. Raises `ModelTrouble` where the script says so, and `ScriptOver` after the last."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._lines):
            raise ScriptOver(f"the script has {len(self._lines)} lines, and the model was asked once more")
        line = self._lines[number]
        if isinstance(line, ModelTrouble):
            # Raised anew each time: an exception keeps the traceback of its last raising.
            raise ModelTrouble(str(line), retryable=line.retryable, retry_after_s=line.retry_after_s, usage=line.usage)
        if isinstance(line, ModelReply):
            return line
        if callable(line):
            return line(request)
        return self._reply(number, line)

    def finish(self) -> None:
        """Raise `ScriptOver` unless every line was said."""
        if len(self.requests) < len(self._lines):
            raise ScriptOver(f"the model was asked {len(self.requests)} times; the script has {len(self._lines)} lines")

    def _reply(self, number: int, line: str | tuple[str, Any]) -> ModelReply:
        if isinstance(line, str):
            return ModelReply(text=line, usage=self._usage, raw={"text": line})
        name, given = line
        arguments = json.dumps(given) if isinstance(given, Mapping) else str(given)
        call = ToolRequest(id=f"call-{number + 1}", name=name, arguments=arguments)
        raw = {"tool": name, "arguments": arguments}
        return ModelReply(tool_calls=(call,), usage=self._usage, raw=raw)


def scripted(lines: Sequence[Line], *, input_tokens: int = 100, output_tokens: int = 20) -> Scripted:
    """A model that says these lines, one for each time it is asked. Lines that are not replies cost these tokens."""
    return Scripted(lines, Usage(input_tokens=input_tokens, output_tokens=output_tokens))
