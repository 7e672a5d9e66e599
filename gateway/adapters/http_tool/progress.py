"""How far an exchange has come, and the one exception that ends it on the way."""

from dataclasses import dataclass

from gateway.stages.execute.attempt.exchange import Fault, Phase


@dataclass(slots=True)
class Trail:
    """Kept up to date while an exchange runs, so that it can be read also when the exchange was cancelled."""

    phase: Phase = Phase.NONE
    reused: bool = False


class Failed(Exception):  # noqa: N818  # never leaves this package: it becomes an Exchange
    """An exchange came to an end before its request was sent.

    Attributes:
        fault: what ended it.
        detail: gateway-owned words, as in `Exchange.detail`.
        cause: what was raised, if anything.
    """

    def __init__(self, fault: Fault, detail: str = "", cause: BaseException | None = None) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail
        self.cause = cause
