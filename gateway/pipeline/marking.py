"""The SENT mark: what the gate writes, durably, before the first byte may leave."""

from gateway.contract import keys
from gateway.manifest.policies import Effect
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from gateway.pipeline.keeping import Move
from gateway.pipeline.parts import Parts
from gateway.pipeline.reconciling import horizon_s, replay_terms
from gateway.stages.execute.attempt.exchange import Limits
from gateway.stages.execute.attempt.stored_request import pack
from gateway.stages.execute.operation import machine, replay
from gateway.stages.execute.operation.claim import Sending
from gateway.stages.execute.operation.machine import Ownership
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.execute.operation.sighting import Identifier


def sent_mark(
    parts: Parts,
    tool: Tool,
    request: RenderedRequest,
    limits: Limits,
    *,
    ownership: Ownership | None,
    baseline: tuple[Identifier, ...] | None,
) -> Move:
    """The move that marks one send: of the claim under `ownership`, or of a replay, under a token of its own.

    `baseline`: read for this send; None: an earlier one stands.
    """
    packed, terms = pack(request), replay_terms(parts, tool, live=True)

    def mark(record: Record, now: float) -> Record:
        wall = parts.store.wall()
        # Past the provider's window the same key is another operation to it, and acts on its own.
        keyed = terms is not None and replay.inside_window(record, terms, wall=wall)
        lease_until = record.lease_until if record.state is State.CLAIMED else now + parts.choices.lease_s
        left_s = limits.send_deadline - parts.clock.monotonic()
        if record.approved_until is not None:
            left_s = min(left_s, record.approved_until - wall)
        sending = Sending(
            send_by=min(lease_until, now + left_s),
            horizon_s=horizon_s(tool),
            wall=wall,
            one_effect=keyed or tool.effect is Effect.IDEMPOTENT,
            request=packed,
            key_form=_key_form(tool, request, record),
            baseline=baseline,
        )
        if record.state is State.CLAIMED and ownership is not None:
            return machine.pass_gate(record, ownership, sending, now=now)
        owner = parts.chance.token()
        return machine.pass_replay_gate(record, ownership, sending, owner=owner, lease_until=lease_until, now=now)

    return mark


def _key_form(tool: Tool, request: RenderedRequest, record: Record) -> str:
    """To whom the key goes, where, and as what. A manifest that writes it otherwise has another key to the downstream."""
    key = tool.downstream_key
    if key is None:
        return ""
    return keys.key_form(request.origin, key.in_, key.name, key.format, tool.key_value(record.key))
