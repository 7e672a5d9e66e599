"""Server-sent events, read as they come, until the answer that is awaited is among them."""

import re
from collections.abc import Sequence
from typing import Final

from gateway.adapters.mcp_tool.messages import Response, method_of, response_of
from gateway.contract.strict_json import InvalidJson, loads

TOOLS_CHANGED: Final = "notifications/tools/list_changed"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


def is_stream(headers: Sequence[tuple[str, str]]) -> bool:
    """Whether an answer's body is a stream of events."""
    kind = next((value for name, value in headers if name == "content-type"), "")
    return kind.partition(";")[0].strip().lower() == "text/event-stream"


class EventReader:
    """Takes a stream in any pieces and gives the data of each event that is whole."""

    __slots__ = ("_data", "_pieces")

    def __init__(self) -> None:
        # Of a line that is not whole: joined once, or a stream of single bytes would cost the square of its length.
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that `piece` completes."""
        half_an_end = bool(self._pieces) and self._pieces[-1].endswith(b"\r")
        self._pieces.append(piece)
        if not half_an_end and _LINE_END.search(piece) is None:
            return []
        text = b"".join(self._pieces)
        # A carriage return at the end may be half of a line end.
        held = b"\r" if text.endswith(b"\r") else b""
        *lines, rest = _LINE_END.split(text[: len(text) - len(held)])
        self._pieces = [rest + held] if rest or held else []
        events = []
        for line in lines:
            if line:
                self._take(line)
            elif self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))


class ResponseWatch:
    """Watches a body for the answer to one request. What else is in a stream is heard and not answered.

    Attributes:
        response: the answer, once it has come.
        tools_changed: the server said that its tools are others now.
    """

    def __init__(self, ident: int, *, max_bytes: int) -> None:
        self.response: Response | None = None
        self.tools_changed = False
        self._ident = ident
        self._max_bytes = max_bytes
        self._events = EventReader()

    def __call__(self, headers: Sequence[tuple[str, str]], piece: bytes) -> bool:
        """See `Enough`: a stream may go on after the answer, and nobody waits for that."""
        return is_stream(headers) and self.feed(piece)

    def feed(self, piece: bytes) -> bool:
        """Take the next piece of a stream; true when the answer has come."""
        for data in self._events.feed(piece):
            try:
                message = loads(data, max_bytes=self._max_bytes)
            except InvalidJson:
                continue
            self.tools_changed = self.tools_changed or method_of(message) == TOOLS_CHANGED
            if self.response is None:
                self.response = response_of(message, self._ident)
        return self.response is not None
