"""What one HTTP exchange ended in, as far as the client can prove it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole HTTP answer.

    Attributes:
        retry_after_s: the header in seconds; None when there is none, or it is a date.
    """

    status: int
    content_type: str
    body: bytes
    retry_after_s: float | None = None


class Silence(StrEnum):
    """Why there is no answer."""

    NO_CONNECTION = "no_connection"
    CONNECT_TIMEOUT = "connect_timeout"
    ANSWER_TIMEOUT = "answer_timeout"
    BROKEN = "broken"
    TOO_LARGE = "too_large"
    ENCODED = "encoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceFacts:
    """What a silence proves. `never_sent`: without a connection, no byte of a request can have left."""

    never_sent: bool
    sentence: str


SILENCES: Final[Mapping[Silence, SilenceFacts]] = {
    Silence.NO_CONNECTION: SilenceFacts(
        never_sent=True, sentence="no connection to the gateway could be opened; nothing was sent"
    ),
    Silence.CONNECT_TIMEOUT: SilenceFacts(
        never_sent=True, sentence="no connection to the gateway could be opened in time; nothing was sent"
    ),
    Silence.ANSWER_TIMEOUT: SilenceFacts(never_sent=False, sentence="the gateway did not answer in time"),
    Silence.BROKEN: SilenceFacts(
        never_sent=False, sentence="the connection to the gateway broke before its answer was whole"
    ),
    Silence.TOO_LARGE: SilenceFacts(never_sent=False, sentence="the answer is larger than this client reads"),
    Silence.ENCODED: SilenceFacts(never_sent=False, sentence="the answer is compressed, which was not asked for"),
}

Heard = Answer | Silence
