"""Real arguments while they are needed, and what history keeps of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent_client.arguments import Misfit, read_arguments
from agent_client.inference import ToolRequest
from agent_client.ports import Sealer
from agent_client.redaction import private_values, scrubbed, without
from agent_client.state import PlannedCall
from agent_client.toolbox import Toolbox


class SealerRequired(ValueError):  # noqa: N818 - what to do is in the message
    """A tool takes sensitive arguments, and there is nothing to seal them with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrecy:
    """Splits what a model proposed into what may be stored and what must be sealed."""

    task_id: str
    toolbox: Toolbox
    sealer: Sealer | None

    def __post_init__(self) -> None:
        tools = [name for name, names in self.toolbox.sensitive.items() if names]
        if tools and self.sealer is None:
            raise SealerRequired(
                f"{', '.join(tools)} takes sensitive arguments, which checkpoints must not show: pass"
                " Runner(sealer=AesSealer([key])), or sealer=Unsealed() to store them readable"
            )

    def plan(self, step: int, requests: Iterable[ToolRequest], *, truncated: bool = False) -> tuple[PlannedCall, ...]:
        """The calls of a reply under ids of ours: a provider's may repeat. The last of a truncated one may be cut."""
        calls = [self.planned(f"call_{step}_{at}", r.name, r.arguments) for at, r in enumerate(requests, start=1)]
        if truncated and calls:
            calls[-1] = calls[-1].model_copy(update={"cut": True})
        return tuple(calls)

    def planned(self, call_id: str, name: str, raw: str) -> PlannedCall:
        """One call, its sensitive arguments sealed."""
        names = self._names(name)
        arguments = read_arguments(raw)
        if not names or self.sealer is None:
            return PlannedCall(call_id=call_id, name=name, arguments=raw)
        if isinstance(arguments, Misfit):
            # Nobody can say which part of it was the sensitive one.
            return PlannedCall(
                call_id=call_id,
                name=name,
                arguments=f"(unreadable, {len(raw)} characters)",
                sealed=self._seal(call_id, raw),
            )
        shown = without(arguments, names)
        if shown == arguments:
            return PlannedCall(call_id=call_id, name=name, arguments=raw)
        return PlannedCall(
            call_id=call_id, name=name, arguments=json.dumps(shown, ensure_ascii=False), sealed=self._seal(call_id, raw)
        )

    def real(self, call: PlannedCall) -> str:
        """The raw arguments. Raises ValueError when they cannot be opened."""
        if call.sealed is None or self.sealer is None:
            return call.arguments
        return self.sealer.open(call.sealed, self._context(call.call_id))

    def shown(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments as history keeps them."""
        shown: dict[str, Any] = without(arguments, self._names(name))
        return shown

    def scrub(self, value: Any, requests: Iterable[ToolRequest]) -> Any:
        """A provider's answer without the sensitive values that its calls hold."""
        secrets: set[str] = set()
        for request in requests:
            names = self._names(request.name)
            if not names:
                continue
            arguments = read_arguments(request.arguments)
            secrets |= {request.arguments} if isinstance(arguments, Misfit) else private_values(arguments, names)
        return scrubbed(value, secrets)

    def _names(self, name: str) -> frozenset[str]:
        """The sensitive arguments of a tool; those of every tool, for one that does not exist."""
        known = self.toolbox.sensitive
        return known[name] if name in known else frozenset().union(*known.values())

    def _seal(self, call_id: str, raw: str) -> str:
        if self.sealer is None:
            raise SealerRequired(f"the arguments of {call_id} must be sealed")
        return self.sealer.seal(raw, self._context(call_id))

    def _context(self, call_id: str) -> str:
        return f"{self.task_id}/{call_id}"
