"""How messages reach one server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from gateway.adapters.mcp_tool.messages import Response
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits, WireRequest

QUESTION_S: Final = 5.0
"""How long a question of ours, which is no call, may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why the server could not be made ready; nothing of a call was sent. `detail` and `cause` as in `Exchange`."""

    fault: Fault
    detail: str
    cause: BaseException | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a question of ours, which is no call, came back with.

    Attributes:
        response: None when no answer to it could be read.
        status: the HTTP status, where there is one.
        trouble: what kept an answer away.
        lost_session: the server does not know the session.
    """

    response: Response | None = None
    status: int | None = None
    trouble: Trouble | None = None
    lost_session: bool = False


class Channel(Protocol):
    """To one server. It keeps the session, if there is one; which revision is spoken is told to it."""

    tools_changed: bool
    """The server has said so since this was last set to False."""

    async def open(self) -> Trouble | None:
        """Be able to ask; a process is started here if none runs."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any], revision: str | None) -> Heard:
        """Ask something that changes nothing."""
        ...

    async def tell(self, method: str, revision: str) -> Trouble | None:
        """Send a notification."""
        ...

    async def call(
        self, request: WireRequest, revision: str, limits: Limits, gate: Gate | None, began: float
    ) -> Exchange:
        """Send one `tools/call`, once, past the gate. Nothing but cancellation escapes."""
        ...

    @property
    def quiet(self) -> bool:
        """Whether a session may have been lost since something was last heard of it."""
        ...

    @property
    def epoch(self) -> int:
        """Rises when the session was lost; what was agreed on before holds no more."""
        ...

    async def aclose(self) -> None:
        """End it."""
        ...
