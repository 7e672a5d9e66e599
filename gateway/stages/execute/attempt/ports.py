"""The door through which a request leaves the machine."""

from typing import Protocol

from gateway.stages.execute.attempt.exchange import Exchange, Gate, Limits, WireRequest


class ToolTransport(Protocol):
    """Sends one request once. Never retries, redirects, keeps cookies or reads proxies from the environment."""

    async def exchange(self, request: WireRequest, limits: Limits, gate: Gate | None = None) -> Exchange:
        """Carry one exchange through to its end, whatever the end is.

        Nothing but cancellation escapes: each way out is an `Exchange`. Cancelling closes the connection at hand
        (it is never reused); a write is therefore run in a task that nobody cancels.
        """
        ...

    def has_idle(self, origin: str) -> bool:
        """Whether an exchange with `origin` that is begun now would find a connection, and wait for nothing before its gate."""
        ...
