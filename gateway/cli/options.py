"""Every setting is an option: the same name, the same words, the same checks."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from gateway.cli.exits import Exit, Failure
from gateway.cli.loading import CONFIG_VARIABLE, Loaded, load
from gateway.settings import Settings, SettingsError, flag_of, is_secret, variable_of

_config = click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Settings file.  [default: oncegate.yaml if it is there; env var: {CONFIG_VARIABLE}]",
)


def setting_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--config` and one option for each of `names`; without names, for every setting that may be seen."""
    chosen = names or tuple(name for name in Settings.model_fields if not is_secret(name))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(chosen):
            command = _option(name)(command)
        return _config(command)

    return decorate


def load_settings(flags: Mapping[str, Any]) -> Loaded:
    """The settings of this command line.

    Raises:
        Failure: USAGE.
    """
    given = {name: value for name, value in flags.items() if value is not None and value != ()}
    config = given.pop("config", None)
    try:
        return load(given, os.environ, config)
    except SettingsError as wrong:
        raise Failure(str(wrong), Exit.USAGE) from None


def _option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    field = Settings.model_fields[name]
    flag = flag_of(name)
    default = default_of(name)
    unset = "" if default is None else f"default: {default}; "
    words = f"{field.description}  [{unset}env var: {variable_of(name)}]"
    if field.annotation is bool:
        return click.option(f"{flag}/--no-{flag.removeprefix('--')}", name, default=None, help=words)
    several = isinstance(field.default, tuple)
    # Values stay text: the model reads them, as it reads the environment, and says the same when it cannot.
    return click.option(flag, name, multiple=several, help=words, metavar=_metavar(name), default=None)


def default_of(name: str) -> str | None:
    """What a setting is that nobody sets, as it would be written; None: it is then unset."""
    value = Settings.model_fields[name].default
    if value is None or value == ():
        return None
    if isinstance(value, float):
        return f"{value:g}" if value < 1e6 else f"{value:.0f}"
    return str(value)


def _metavar(name: str) -> str:
    choices = get_args(Settings.model_fields[name].annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return "|".join(choices)
    if name.endswith("_s"):
        return "DURATION"
    if name.endswith("_bytes"):
        return "SIZE"
    if name == "allow_private":
        return "HOST:PORT"
    return {"manifests": "DIR", "secrets_dir": "DIR", "keys": "FILE", "issuers": "FILE", "store": "URL"}.get(
        name, "VALUE"
    )
