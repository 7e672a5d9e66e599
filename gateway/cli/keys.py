"""`oncegate keys`."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from gateway.adapters.files.keys import KeyFileError, create_key, read_keys, revoke_key
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_json, print_table
from gateway.settings import Settings, variable_of

_DEFAULT = Settings.model_fields["keys"].default
_DURATION = re.compile(r"([1-9][0-9]*)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

keys_option = click.option(
    "--keys",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=lambda: Path(os.environ.get(variable_of("keys"), _DEFAULT)),
    show_default=str(_DEFAULT),
    help=f"File of key hashes. [env: {variable_of('keys')}]",
)


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """Create, list and revoke API keys. The file keeps hashes; a key is shown once, when it is made."""


@command.command(epilog=EXIT_HELP)
@keys_option
@click.option("--subject", required=True, help="Who holds the key, within the tenant.")
@click.option("--tenant", required=True, help="What the holder's operations are kept apart by.")
@click.option("--permission", "permissions", multiple=True, help="As manifests name it; several times for several.")
@click.option(
    "--attribute", "attributes", multiple=True, metavar="NAME=VALUE", help="A fact about the holder; JSON or text."
)
@click.option("--expires-in", help="How long it is valid, such as 30d or 12h. Without it: for ever.")
@json_option
def create(  # noqa: PLR0913 - the options of the command
    *,
    path: Path,
    subject: str,
    tenant: str,
    permissions: tuple[str, ...],
    attributes: tuple[str, ...],
    expires_in: str | None,
    as_json: bool,
) -> None:
    """Make a key and print it, this once only. A running gateway takes it on SIGHUP or its reload interval.

    \b
    oncegate keys create --subject agent --tenant acme --permission refunds:write
    oncegate keys create --subject lead --tenant acme --attribute max_refund_paise=500000 --json
    """  # noqa: D301 - click's mark for lines that stay lines
    now = datetime.now(UTC).timestamp()
    lifetime_s = None if expires_in is None else _lifetime_s(expires_in)
    try:
        key, entry = create_key(
            path,
            subject=subject,
            tenant=tenant,
            permissions=permissions,
            attributes=dict(_attribute(text) for text in attributes),
            expires_wall=None if lifetime_s is None else now + lifetime_s,
        )
    except (OSError, KeyFileError) as wrong:
        raise _unusable(path, wrong) from None
    if as_json:
        print_json({"key": key, "id": entry.key_id, "subject": subject, "tenant": tenant, "permissions": permissions})
    else:
        click.echo(key)
        click.echo(f"Key {entry.key_id} of {subject} ({tenant}). It is not shown again.", err=True)


@command.command("list", epilog=EXIT_HELP)
@keys_option
@json_option
def list_keys(*, path: Path, as_json: bool) -> None:
    """List the keys: never a secret, not even its hash."""
    try:
        entries = read_keys(path)
    except FileNotFoundError:
        entries = ()
    except (OSError, KeyFileError) as wrong:
        raise _unusable(path, wrong) from None
    shown = [
        {
            "id": entry.key_id,
            "subject": entry.subject,
            "tenant": entry.tenant,
            "permissions": list(entry.permissions),
            "attributes": dict(entry.attributes),
            "created": _date(entry.created_wall),
            "expires": _date(entry.expires_wall),
        }
        for entry in entries
    ]
    if as_json:
        print_json({"keys": shown})
        return
    columns = ["id", "subject", "tenant", "permissions", "created", "expires"]
    rows = [[" ".join(it["permissions"]) if name == "permissions" else it[name] for name in columns] for it in shown]
    print_table([name.upper() for name in columns], rows, "There are no keys. Make one with `oncegate keys create`.")


@command.command(epilog=EXIT_HELP)
@keys_option
@click.argument("key_id")
@json_option
def revoke(*, path: Path, key_id: str, as_json: bool) -> None:
    """Take a key out of the file. A running gateway forgets it on SIGHUP or its reload interval."""
    try:
        revoked = revoke_key(path, key_id)
    except (OSError, KeyFileError) as wrong:
        raise _unusable(path, wrong) from None
    if not revoked:
        raise Failure(f"there is no key {key_id} in {path}; `oncegate keys list` shows the ids.", Exit.NO)
    if as_json:
        print_json({"revoked": key_id})
    else:
        click.echo(f"Key {key_id} is revoked.")


def _attribute(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Failure(f"--attribute {text} is not NAME=VALUE.", Exit.USAGE)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _lifetime_s(text: str) -> int:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise Failure(f"--expires-in {text} is not a duration such as 30d, 12h or 90m.", Exit.USAGE)
    return int(found[1]) * _SECONDS[found[2]]


def _date(wall: float | None) -> str | None:
    return None if wall is None else datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _unusable(path: Path, wrong: Exception) -> Failure:
    reason = wrong.strerror if isinstance(wrong, OSError) and wrong.strerror else str(wrong)
    return Failure(f"{path}: {reason}.".replace("..", "."), Exit.USAGE)
