"""A tool, a caller and envelopes, for everything that looks at calls from outside."""

from dataclasses import dataclass

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.manifest.policies import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTool:
    """What telemetry needs of a tool."""

    name: str = "issue_refund"
    version: str = "1.2.0"
    digest: str = "sha256:abc"
    effect: Effect = Effect.WRITE
    capture: tuple[str, ...] = ()
    sensitive: frozenset[str] = frozenset()


TOOL = SampleTool()
READ = SampleTool(name="lookup_order", effect=Effect.READ)
CALLER = Caller(subject="agent-7", tenant="acme")


def meta(*, replayed: bool = False, attempts: int = 1, truncated: str | None = None) -> Meta:
    """Of a call of `TOOL`."""
    return Meta(
        request_id="req-1",
        tool=TOOL.name,
        tool_version=TOOL.version,
        manifest_digest=TOOL.digest,
        operation_id="op-1",
        run_id="run-1",
        step=4,
        attempts=attempts,
        replayed=replayed,
        truncated=truncated,
        trace_id="0af7651916cd43dd8448eb211c80319c",
    )


def ok(*, replayed: bool = False, attempts: int = 1, truncated: str | None = None) -> Envelope:
    """An envelope with a result."""
    return succeed({"id": "re_1"}, meta(replayed=replayed, attempts=attempts, truncated=truncated))


def failed(code: ErrorCode, *, replayed: bool = False, attempts: int = 1) -> Envelope:
    """An envelope with an error."""
    return fail(code, meta(replayed=replayed, attempts=attempts))
