"""What `call` and `prepare` share: arguments from words, the body, the headers."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

import click

from gateway.cli.exits import Exit, Failure
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One call as it was typed."""

    tool: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    texts: Mapping[str, str]
    """The arguments that were typed as name=text."""

    def hint(self, envelope: Envelope) -> None:
        """On standard error, how a value is typed that was taken for a text and has to be something else."""
        if envelope.error is None or envelope.error.code is not ErrorCode.WRONG_TYPE:
            return
        for fault in envelope.error.details.get("faults", ()):
            text = self.texts.get(fault["path"])
            if text is not None and _is_json(text):
                click.echo(f"note: {fault['path']}={text} is a text; as JSON it is {fault['path']}:={text}", err=True)


_OPTIONS: Final = (
    click.option("--wait-ms", type=click.IntRange(min=1), help="How long the gateway may take (X-Request-Timeout-Ms)."),
    click.option("--store-epoch", help="meta.store_epoch of an earlier answer."),
    click.option(
        "--attempt", type=click.IntRange(min=1), help="Which send of this call it is, when earlier ones proved nothing."
    ),
    click.option("--idempotency-key", help="Your own name for the operation; the same for every attempt."),
    click.option("--repeat-of", help="Operation id of what is to be done once more on purpose; needs an approval."),
    click.option("--approval", "approval_id", help="The approval to use; without it the action's own is found."),
    click.option("--step", type=click.IntRange(min=0), help="Step of the run."),
    click.option("--run", "run_id", help="Identifier of the agent's run."),
    click.option(
        "--arguments",
        "document",
        type=click.File(),
        help="File with all arguments as a JSON object; - is standard input.",
    ),
    click.argument("words", metavar="[NAME=TEXT | NAME:=JSON]...", nargs=-1),
    click.argument("tool"),
)


def proposal_options(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of a call, which the command gets as `proposal`."""

    @functools.wraps(command)
    def wrapped(
        *,
        tool: str,
        words: Sequence[str],
        document: IO[str] | None,
        run_id: str | None,
        step: int | None,
        approval_id: str | None,
        repeat_of: str | None,
        idempotency_key: str | None,
        attempt: int | None,
        store_epoch: str | None,
        wait_ms: int | None,
        **rest: Any,
    ) -> None:
        arguments = {**(_from_file(document) if document else {}), **parse_words(words)}
        run = {name: value for name, value in (("id", run_id), ("step", step)) if value is not None}
        named = {"run": run or None, "approval_id": approval_id, "repeat_of": repeat_of}
        headers = {
            "Idempotency-Key": idempotency_key,
            "Idempotency-Attempt": attempt,
            "Oncegate-Store-Epoch": store_epoch,
            "X-Request-Timeout-Ms": wait_ms,
        }
        proposal = Proposal(
            tool=tool,
            body={"arguments": arguments, **{name: it for name, it in named.items() if it is not None}},
            headers={name: str(value) for name, value in headers.items() if value is not None},
            texts=dict(word.split("=", 1) for word in words if not word.partition("=")[0].endswith(":")),
        )
        command(proposal=proposal, **rest)

    with_options: Callable[..., None] = wrapped
    for option in _OPTIONS:
        with_options = option(with_options)
    return with_options


def parse_words(words: Sequence[str]) -> dict[str, Any]:
    """Arguments from `name=text` and `name:=json`.

    Raises:
        Failure: USAGE, for a word that is neither, JSON that does not parse, or a name given twice.
    """
    arguments: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        typed = name.endswith(":")
        name = name.removesuffix(":")
        if not sign or not name:
            raise Failure(f"{word!r} is no argument; write name=text or name:=json.", Exit.USAGE)
        if name in arguments:
            raise Failure(f"the argument {name} is given twice.", Exit.USAGE)
        arguments[name] = _json(text, f"the value of {name}") if typed else text
    return arguments


def _from_file(document: IO[str]) -> dict[str, Any]:
    value = _json(document.read(), "--arguments")
    if not isinstance(value, dict):
        raise Failure("--arguments must hold a JSON object.", Exit.USAGE)
    return value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Failure(f"{what} is not JSON: {error}.", Exit.USAGE) from None
