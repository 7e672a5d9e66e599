"""The pieces of sentences about a dependency that is left alone."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.words import seconds

_CODES: Final = frozenset(code.value for code in ErrorCode)


def _failing(context: Context) -> str:
    if context.word is not None:
        # It may be well; nobody has asked it.
        return f"was switched off by an operator ({context.word})"
    if context.failures is None:
        return "is failing"
    of = f" of its last {context.calls} calls" if context.calls else " calls in a row"
    last = f"last: {context.last_code}" if context.last_code in _CODES else ""
    since = "" if context.down_s is None else f"for {seconds(context.down_s)} now"
    told = ", ".join(filter(None, (last, since)))
    return f"failed {context.failures}{of}" + (f" ({told})" if told else "")


BREAKER_FRAGMENTS: Final[Mapping[str, Callable[[Context], str]]] = MappingProxyType({"failing": _failing})
