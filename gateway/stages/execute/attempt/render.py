"""A tool and accepted arguments as the request that is sent, stored and sent again."""

from gateway.contract.codes import ErrorCode
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.tool import Tool
from gateway.stages.execute.attempt.exchange import WireRequest


class RequestTooLargeError(RenderError):
    """The rendered body is larger than `limits.request_bytes`. Nothing was sent."""

    def __init__(self, size: int, limit: int) -> None:
        message = f"the request has {size} bytes, and this tool sends at most {limit}"
        super().__init__(message, root="args", name="args")

    @property
    def code(self) -> ErrorCode:
        return ErrorCode.BODY_TOO_LARGE


def render(tool: Tool, values: CallValues) -> WireRequest:
    """The request of one call; equal values give equal bytes.

    Raises:
        RenderError: a value cannot stand where the manifest puts it, or the body is too large; `code` says how the
            caller is told. Nothing was sent.
    """
    request = tool.backend.request
    rendered = request.render(values)
    if len(rendered.body) > tool.limits.request_bytes:
        raise RequestTooLargeError(len(rendered.body), tool.limits.request_bytes)
    return WireRequest(
        method=rendered.method,
        origin=rendered.origin,
        target=rendered.target,
        headers=rendered.headers,
        body=rendered.body,
        secret_headers=request.secret_headers,
    )
