"""`oncegate certify`."""

import asyncio
import os
import secrets as random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.options import load_settings, setting_options
from gateway.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from gateway.cli.certifying.findings import Certificate
    from gateway.settings import Settings


@click.command(epilog=EXIT_HELP)
@click.argument("tool")
@click.argument("words", metavar="[NAME=TEXT | NAME:=JSON]...", nargs=-1)
@click.option("--against", required=True, metavar="URL", help="The staging address that takes the calls.")
@click.option("--other", multiple=True, metavar="NAME=…", help="A change that gives another body under the same key.")
@click.option("--refused", multiple=True, metavar="NAME=…", help="A change that the downstream refuses.")
@click.option(
    "--patience", default="60s", show_default=True, metavar="DURATION", help="Wait out a key's window up to this."
)
@click.option("--production", is_flag=True, help="URL may be where the gateway itself sends calls.")
@click.option("--strict", is_flag=True, help="A claim that was not checked is a no as well.")
@json_option
@setting_options("manifests", "manifest_env", "secrets_dir")
def command(
    *,
    tool: str,
    words: tuple[str, ...],
    against: str,
    other: tuple[str, ...],
    refused: tuple[str, ...],
    patience: str,
    production: bool,
    strict: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Hold what TOOL's manifest says of its downstream against a staging system. It really acts there.

    Sends the same key twice, at once, and with another body; looks up what was done; counts effects. Exits 1 if a
    claim is false, 4 if an outcome stayed unknown.

    \b
    oncegate certify issue_refund --against https://staging.pay.example \\
        order_id=ORD-1 payment_id=PAY-1 amount_paise:=100
    """  # noqa: D301 - click's mark for lines that stay lines
    from gateway.manifest.placeholders import RenderError  # noqa: PLC0415 - with the others: --help needs none
    from gateway.manifest.units import duration_s  # noqa: PLC0415

    settings = load_settings(flags).settings
    try:
        patience_s = duration_s(patience)
    except ValueError as wrong:
        raise Failure(f"--patience: {wrong}.", Exit.USAGE) from None
    try:
        certificate = asyncio.run(
            _certify(settings, tool, against.rstrip("/"), words, other, refused, patience_s, production=production)
        )
    except KeyboardInterrupt:
        raise Failure(f"interrupted. What was sent to {against} MAY have been carried out.", Exit.UNKNOWN) from None
    except RenderError as error:
        raise Failure(f"{tool} cannot be called without a run or a caller: {error}.", Exit.USAGE) from None
    if as_json:
        print_json(certificate.document())
    else:
        _print(certificate)
    if code := exit_code(certificate, strict=strict):
        raise click.exceptions.Exit(code)


async def _certify(
    settings: "Settings",
    tool: str,
    against: str,
    words: tuple[str, ...],
    other: tuple[str, ...],
    refused: tuple[str, ...],
    patience_s: float,
    *,
    production: bool,
) -> "Certificate":
    from gateway.adapters.http_tool.egress import EgressPolicy  # noqa: PLC0415 - as above
    from gateway.adapters.http_tool.transport import HttpToolTransport  # noqa: PLC0415
    from gateway.adapters.system.clock import SystemClock  # noqa: PLC0415
    from gateway.app import read_secrets  # noqa: PLC0415
    from gateway.cli.certifying.checks import Certification  # noqa: PLC0415
    from gateway.cli.certifying.orders import order  # noqa: PLC0415
    from gateway.cli.certifying.probe import Probe  # noqa: PLC0415
    from gateway.cli.certifying.staging import stage  # noqa: PLC0415
    from gateway.cli.check import names_in_use  # noqa: PLC0415

    path: Path = settings.manifests
    staged = stage(
        path,
        tool,
        against,
        names=settings.manifest_env or names_in_use(path),
        environ=os.environ,
        secrets=read_secrets(settings, os.environ),
        production=production,
    )
    clock = SystemClock()
    # What the operator names on the command line may be private; nothing else may.
    transport = HttpToolTransport(clock, egress=EgressPolicy((staged.host_port,)))
    try:
        probe = Probe(staged.tool, staged.reader, transport, clock)
        wanted = order(probe, words, other, refused, patience_s)
        return await Certification(probe, wanted, clock, lambda: random.token_urlsafe(32)).run(against)
    finally:
        await transport.aclose()


def exit_code(certificate: "Certificate", *, strict: bool = False) -> int:
    """The program's exit code for a certificate."""
    from gateway.cli.certifying.findings import Verdict  # noqa: PLC0415 - as above

    if certificate.of(Verdict.FALSE):
        return Exit.NO
    if certificate.unknown:
        return Exit.UNKNOWN
    unchecked = strict and certificate.of(Verdict.UNCHECKED)
    return Exit.NO if certificate.interrupted is not None or unchecked else Exit.OK


def _print(certificate: "Certificate") -> None:
    from gateway.cli.certifying.findings import Verdict  # noqa: PLC0415 - as above

    rows = [(it.verdict.value, it.field, it.says, it.seen) for it in certificate.findings]
    print_table(("VERDICT", "FIELD", "THE MANIFEST SAYS", "SEEN"), rows, "nothing could be checked")
    counts = ", ".join(f"{len(certificate.of(verdict))} {verdict.value}" for verdict in Verdict)
    click.echo(f"{certificate.tool} at {certificate.against}: {counts}; {certificate.acts} requests that act were sent")
    if certificate.interrupted is not None:
        click.echo(f"interrupted: {certificate.interrupted}", err=True)
