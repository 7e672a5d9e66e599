"""`oncegate keys`."""

import json
import time
from collections.abc import Sequence
from typing import Any, Final

import click
from pydantic import TypeAdapter, ValidationError

from gateway.adapters.files.keys import KeyEntry, KeyFileError, create_key, read_keys, reason_of, revoke_key
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.options import load_settings, setting_options
from gateway.cli.output import json_option, print_json, print_table, second
from gateway.manifest.fields import Word
from gateway.settings import DURATION_UNITS

_LONGEST: Final = 255


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """Create, list and revoke API keys. The file holds hashes only.

    \b
    oncegate keys create --subject support-agent --tenant acme --permission refunds:write
    oncegate keys list
    oncegate keys revoke 7hq2m4kx9abc
    """  # noqa: D301 - click's mark for lines that stay lines


@command.command(epilog=EXIT_HELP)
@click.option("--subject", required=True, help="Who holds the key.")
@click.option("--tenant", required=True, help="Whose operations its calls are; tenants see nothing of one another.")
@click.option(
    "--permission", "permissions", multiple=True, help="What it may do, as manifests ask for it. Several times."
)
@click.option(
    "--attribute",
    "words",
    multiple=True,
    metavar="NAME=VALUE",
    help="A fact about the holder that rules may use. Numbers, true and false are such; the rest is text. Several times.",
)
@click.option("--expires-in", metavar="DURATION", help="How long it is valid, as in 90d.  [default: for ever]")
@json_option
@setting_options("keys")
def create(
    *,
    subject: str,
    tenant: str,
    permissions: tuple[str, ...],
    words: tuple[str, ...],
    expires_in: str | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Make a key and print it, this once only.

    \b
    oncegate keys create --subject agent --tenant acme --permission refunds:write --attribute max_refund_paise=200000
    """  # noqa: D301 - click's mark for lines that stay lines
    _check_names(subject, tenant, permissions)
    path = load_settings(flags).settings.keys
    expires_wall = None if expires_in is None else time.time() + _seconds(expires_in)
    try:
        key, entry = create_key(
            path,
            subject=subject,
            tenant=tenant,
            permissions=permissions,
            attributes=parse_attributes(words),
            expires_wall=expires_wall,
        )
    except (OSError, KeyFileError) as wrong:
        raise _unusable(wrong) from None
    if as_json:
        print_json({"key": key, **_shown(entry)})
        return
    click.echo(key)
    click.echo(
        f"This is the only time it is shown. {path} has its hash; it is revoked by its id, {entry.key_id}.", err=True
    )


@command.command("list", epilog=EXIT_HELP)
@json_option
@setting_options("keys")
def list_keys(*, as_json: bool, **flags: Any) -> None:
    """List keys by their ids, oldest first. The keys themselves are nowhere."""
    try:
        entries = read_keys(load_settings(flags).settings.keys)
    except (OSError, KeyFileError) as wrong:
        raise _unusable(wrong, wanted=True) from None
    if as_json:
        print_json({"keys": [_shown(entry) for entry in entries]})
        return
    rows = [
        [it.key_id, it.subject, it.tenant, " ".join(it.permissions), second(it.created_wall), second(it.expires_wall)]
        for it in entries
    ]
    print_table(["ID", "SUBJECT", "TENANT", "PERMISSIONS", "CREATED", "EXPIRES"], rows, "There are no keys.")


@command.command(epilog=EXIT_HELP)
@click.argument("key_id")
@json_option
@setting_options("keys")
def revoke(*, key_id: str, as_json: bool, **flags: Any) -> None:
    """Take a key out of the file. A running gateway notices within reload_interval_s, or at once on SIGHUP."""
    try:
        revoked = revoke_key(load_settings(flags).settings.keys, key_id)
    except (OSError, KeyFileError) as wrong:
        raise _unusable(wrong, wanted=True) from None
    if as_json:
        print_json({"id": key_id, "revoked": revoked})
    elif revoked:
        click.echo(f"Revoked {key_id}. A running gateway notices within reload_interval_s, or at once on SIGHUP.")
    if not revoked:
        raise Failure(f"there is no key with the id {key_id}.", Exit.NO)


def parse_attributes(words: Sequence[str]) -> dict[str, Any]:
    """Attributes from `name=value`: JSON numbers, booleans and quoted strings as such, everything else as text.

    Raises:
        Failure: USAGE, for a word without a name or a sign, or a name given twice.
    """
    attributes: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name:
            raise Failure(f"{word!r} is no attribute; write NAME=VALUE.", Exit.USAGE)
        if name in attributes:
            raise Failure(f"the attribute {name} is given twice.", Exit.USAGE)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        attributes[name] = value if isinstance(value, str | int | float) else text
    return attributes


def _check_names(subject: str, tenant: str, permissions: Sequence[str]) -> None:
    """A key is held by somebody, and what it permits can be asked for: no manifest may name what is no `Word`."""
    for option, name in (("--subject", subject), ("--tenant", tenant)):
        if not name.strip() or not name.isprintable() or len(name) > _LONGEST:
            raise Failure(f"{option} {name!r} is no name: 1 to {_LONGEST} printable characters.", Exit.USAGE)
    for permission in permissions:
        try:
            TypeAdapter(Word).validate_python(permission)
        except ValidationError:
            raise Failure(
                f"--permission {permission!r} is none that a manifest can ask for: letters, digits and _.:@/- as in "
                "refunds:write, each by its whole name, for there are no wildcards.",
                Exit.USAGE,
            ) from None


def _seconds(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if not number.isascii() or not number.isdigit() or unit not in DURATION_UNITS:
        raise Failure("--expires-in takes a whole number with its unit, as in 12h or 90d.", Exit.USAGE)
    return int(number) * DURATION_UNITS[unit]


def _shown(entry: KeyEntry) -> dict[str, Any]:
    return {
        "id": entry.key_id,
        "subject": entry.subject,
        "tenant": entry.tenant,
        "permissions": list(entry.permissions),
        "attributes": dict(entry.attributes),
        "created_at": second(entry.created_wall),
        "expires_at": second(entry.expires_wall),
    }


def _unusable(wrong: OSError | KeyFileError, *, wanted: bool = False) -> Failure:
    """`wanted`: the file has to be there, which making a key does not ask."""
    made = " `oncegate keys create` makes it." if wanted and isinstance(wrong, FileNotFoundError) else ""
    return Failure(f"the keys cannot be used: {reason_of(wrong)}{made}", Exit.USAGE)
