"""What came back for a `tools/call`, as the exchange that the tables know."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from gateway.adapters.mcp_tool.events import ResponseWatch, is_stream
from gateway.adapters.mcp_tool.messages import Response, response_in
from gateway.contract.strict_json import InvalidJson, loads
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Phase, Said
from gateway.stages.execute.attempt.mcp_answers import RPC_ERRORS

_SAID: Final[Mapping[bool | None, Said]] = {True: Said.TOOL_ERROR, False: Said.RESULT}
_UNINITIALIZED: Final = -32000
_UNKNOWN_SESSION: Final = -32001
# A server's own refusals; of the other statuses none answers a message.
_REFUSALS: Final = frozenset({307, 308, *range(400, 600)})


def response_to(ended: Exchange, ident: int, watch: ResponseWatch, *, max_bytes: int) -> Response | None:
    """The answer to request `ident` in an HTTP answer that may have been cut short; None: there is none in it."""
    answer = ended.answer
    if answer is None or ended.phase < Phase.HEADERS:
        return None
    if is_stream(answer.headers):
        if watch.response is None:
            # Compressed, it could not be read on the way.
            watch = ResponseWatch(ident, max_bytes=max_bytes)
            watch.feed(answer.body)
        return watch.response
    if ended.fault is not None:
        return None
    return response_in(answer.body, ident, max_bytes=max_bytes, lone=True)


def loses_session(ended: Exchange, response: Response | None, session: str | None) -> bool:
    """Whether an answer says that the server does not know the session which the request named."""
    if session is None or ended.answer is None:
        return False
    if ended.answer.status == 404:
        # An error that names the request was given by somebody who had looked at it.
        return response is None or response.unaddressed or response.code == _UNKNOWN_SESSION
    # What servers answer that were started anew and wait for `initialize`.
    refused = ended.answer.status == 400
    return refused and response is not None and response.unaddressed and response.code == _UNINITIALIZED


def told(ended: Exchange, response: Response | None, *, no_session: bool, max_bytes: int) -> Exchange:
    """The exchange with the message's meaning in the place of HTTP's."""
    answer = ended.answer
    if answer is None or ended.phase < Phase.HEADERS:
        return ended
    if no_session:
        code = None if response is None else response.code
        return replace(ended, answer=replace(answer, said=Said.NO_SESSION, rpc_code=code))
    if response is None or (response.unaddressed and response.code not in RPC_ERRORS):
        # Who names no request, and says nothing that the protocol knows, leaves the word to the status.
        if answer.status in _REFUSALS:
            return ended
        # A 202 to a request, a redirect, a page: not what the protocol has for an answer.
        return replace(ended, answer=replace(answer, said=Said.CUT), fault=ended.fault or Fault.MALFORMED)
    if response.result is None:
        error = replace(answer, said=Said.RPC_ERROR, rpc_code=response.code, unaddressed=response.unaddressed)
        return replace(ended, fault=None, answer=error)
    if answer.status in _REFUSALS:
        # It says that it was refused, and brings what it is said to have refused.
        return replace(ended, answer=replace(answer, said=Said.CUT), fault=Fault.MALFORMED)
    return said_result(replace(ended, answer=replace(answer, close_delimited=False)), response.result, max_bytes)


def said_result(ended: Exchange, result: Mapping[str, Any], max_bytes: int) -> Exchange:
    """The exchange that ended with this result."""
    answer = ended.answer or Answer(status=200, headers=(), body=b"")
    if result.get("resultType", "complete") != "complete":
        said = Said.UNFINISHED
    else:
        said = _SAID.get(_is_error(result), Said.UNFINISHED)
    body = orjson.dumps(_data(result, max_bytes))
    return replace(ended, phase=Phase.COMPLETE, fault=None, answer=replace(answer, body=body, said=said))


def _is_error(result: Mapping[str, Any]) -> bool | None:
    """Whether the tool says that it failed; None: this is no result of a tool, and says neither."""
    is_error = result.get("isError", False)
    has_content = isinstance(result.get("content"), list) or result.get("structuredContent") is not None
    return is_error if is_error is True or (is_error is False and has_content) else None


def _data(result: Mapping[str, Any], max_bytes: int) -> Any:
    """The structured content; else one text that is a JSON object; else the blocks as they came."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    if len(blocks) == 1 and isinstance(blocks[0], dict) and isinstance(blocks[0].get("text"), str):
        try:
            value = loads(blocks[0]["text"].encode(), max_bytes=max_bytes)
        except InvalidJson:
            pass
        else:
            if isinstance(value, dict):
                return value
    return {"content": blocks}
