"""What the connections of one server share."""

from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn.server import ServerState

from gateway.fronts.http.turn import Turn

Calls = Callable[[Turn], Coroutine[Any, Any, None]]
"""Answers one tool call."""


class Connections(ServerState):
    """What the connections of one server share.

    `patience_s` is how long a head may take to come, and what was answered to be taken. `none_left` is called when the
    last connection is gone.
    """

    def __init__(self, max_head_bytes: int, patience_s: float, none_left: Callable[[], None], calls: Calls) -> None:
        super().__init__()
        self.max_head_bytes = max_head_bytes
        self.patience_s = patience_s
        self.none_left = none_left
        self.calls = calls
        self._written: tuple[list[tuple[bytes, bytes]], bytes] = ([], b"")

    @property
    def default_lines(self) -> bytes:
        """The headers of every answer, `date` among them, as they stand in a message."""
        headers, lines = self._written
        if headers is not self.default_headers:
            # uvicorn makes a new list each second.
            headers = self.default_headers
            lines = b"".join([b"%b: %b\r\n" % header for header in headers])
            self._written = headers, lines
        return lines
