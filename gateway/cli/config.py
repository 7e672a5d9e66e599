"""`oncegate config`."""

from collections.abc import Iterator
from typing import Any

import click
from pydantic import SecretStr

from gateway.cli.exits import EXIT_HELP
from gateway.cli.loading import CONFIG_VARIABLE, Loaded
from gateway.cli.options import default_of, load_settings, setting_options
from gateway.cli.output import json_option, print_json, print_table
from gateway.settings import SECRETS, Settings, flag_of, is_secret, variable_of

_MASK = "********"


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """Show the settings in force and where each comes from."""


@command.command(epilog=EXIT_HELP)
@setting_options()
@json_option
def show(*, as_json: bool, **flags: Any) -> None:
    """Print every setting, its value and its source. Secrets are masked.

    \b
    oncegate config show --config oncegate.yaml
    ONCEGATE_LEASE_S=5s oncegate config show --json
    """  # noqa: D301 - click's mark for lines that stay lines
    loaded = load_settings(flags)
    for sentence in loaded.unread:
        click.echo(f"warning: {sentence}", err=True)
    entries = {name: {"value": _shown(loaded, name), "source": loaded.sources[name]} for name in Settings.model_fields}
    if as_json:
        print_json(entries)
    else:
        rows = [[name, entry["value"], entry["source"]] for name, entry in entries.items()]
        print_table(["SETTING", "VALUE", "SOURCE"], rows, "")


@command.command(epilog=EXIT_HELP)
def docs() -> None:
    """Print docs/settings.md."""
    click.echo("\n".join(_page()))


def _shown(loaded: Loaded, name: str) -> Any:
    value = getattr(loaded.settings, name)
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, str) and "://" in value:
        return _without_credentials(value)
    return list(value) if isinstance(value, tuple) else str(value) if hasattr(value, "parts") else value


def _without_credentials(url: str) -> str:
    """A URL without what may be a credential in it: user and password, and the values of its query."""
    scheme, _, rest = url.partition("://")
    # Up to the last `@`, wherever it is: a password may have any character in it.
    user, at, place = rest.rpartition("@")
    path, _, query = place.partition("?")
    shown = f"{scheme}://{_MASK if user else ''}{at}{path}"
    return f"{shown}?{_MASK}" if query else shown


def _page() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "<!-- Printed by `oncegate config docs` from gateway/settings.py. Change the settings, not this page. -->"
    yield ""
    yield "A setting is taken from its option of `oncegate serve`, else from its environment variable, else from the file"
    yield f"(`--config`, `{CONFIG_VARIABLE}`, or `oncegate.yaml` in the working directory), else it has its default."
    yield "`oncegate config show` prints what is in force and where it came from. A name that is no setting is refused in"
    yield f"the file and as an option. A variable `{variable_of('')}…` that is none may be a manifest's secret: `serve` logs a"
    yield "warning with the nearest name, and `config show` prints it."
    yield ""
    yield "Durations are numbers of seconds or have a unit (`250ms`, `15s`, `10m`, `2h`, `30d`); sizes are numbers of bytes"
    yield "or have a unit (`64KiB`, `1MiB`). Lists are separated by commas; an option may also be given several times."
    yield ""
    yield "Secrets come from the environment only: never from an option, which every process of the machine can see, and"
    yield "never from the file. What anyone would guess (`changeme`, `secret`) or is shorter than 16 characters is refused."
    yield ""
    yield "| setting | option | environment | default | what it is |"
    yield "|---|---|---|---|---|"
    for name, field in Settings.model_fields.items():
        option = "" if is_secret(name) else f"`{flag_of(name)}`"
        variable = f"the one `{SECRETS[name]}` names" if is_secret(name) else f"`{variable_of(name)}`"
        yield f"| `{name}` | {option} | {variable} | {_default(name)} | {field.description} |"


def _default(name: str) -> str:
    text = default_of(name)
    return "none" if text is None else f"`{text}`"
