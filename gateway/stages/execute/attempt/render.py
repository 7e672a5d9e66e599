"""A tool and accepted arguments as the request that is stored, sent, and sent again."""

from gateway.contract.codes import ErrorCode
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool


class RequestTooLargeError(RenderError):
    """Target and body together are larger than `limits.request_bytes`, which `limit` repeats."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the request is larger than {limit:,} bytes", root="args", name="args")
        self.limit = limit

    @property
    def code(self) -> ErrorCode:
        return ErrorCode.BODY_TOO_LARGE


def render(tool: Tool, values: CallValues) -> RenderedRequest:
    """The request of one call; equal values give equal bytes.

    Raises:
        RenderError: a value cannot stand where the manifest puts it, or the request is too large; `code` says how the
            caller is told. Nothing was sent.
    """
    rendered = tool.backend.request.render(values)
    if len(rendered.target) + len(rendered.body) > tool.limits.request_bytes:
        raise RequestTooLargeError(tool.limits.request_bytes)
    return rendered
