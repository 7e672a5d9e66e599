"""Where settings come from: flag over environment over `oncegate.yaml` over default."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from gateway.settings import SECRETS, Settings, SettingsError, flag_of, is_secret, variable_of
from gateway.wording import place_in_yaml, words_for

CONFIG_FILE: Final = "oncegate.yaml"
CONFIG_VARIABLE: Final = "ONCEGATE_CONFIG"
_PREFIX: Final = "ONCEGATE_"
OTHER_VARIABLES: Final = frozenset(
    f"{_PREFIX}{name}" for name in ("CONFIG", "URL", "KEY", "DEBUG", "CHECKPOINTS", "CHECKPOINTS_KEY", "CRASH_KILLS")
)
"""What other commands, clients and our tests read."""
_OF_A_SERVICE: Final = re.compile(r"_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?$")
"""What Kubernetes puts into every pod beside a service whose name begins with oncegate."""
_EXAMPLES: Final = {
    "store": "`sqlite:///oncegate.db` or `redis://localhost:6379/0`",
    "caller_rate": "`600/m` or `50/s,20000/d`",
    "tenant_rate": "`600/m` or `50/s,20000/d`",
    "allow_private": "`127.0.0.1:9000`",
    "mcp_commands": "`/usr/local/bin/refund-server`",
    "public_url": "`https://gateway.example.com`",
    "otlp_endpoint": "`http://localhost:4318`",
    "manifest_env": "`PAYMENTS_URL`",
    "_key_env": "`PAYMENTS_KEY`",
    "_password_env": "`REDIS_PASSWORD`",
    "_bytes": "`64KiB` or `1MiB`",
    "_s": "`15s` or `250ms`",
}
"""A setting, or how its name ends -> values that are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The settings, and by name where each value came from: a flag, a variable, the file, or `default`.

    Attributes:
        unread: a sentence for each variable that is called like one of ours and is none.
    """

    settings: Settings
    sources: Mapping[str, str]
    unread: tuple[str, ...] = ()


def load(flags: Mapping[str, Any], environ: Mapping[str, str], config: Path | None = None) -> Loaded:
    """Settings of one process. Flags that are None were not given.

    Raises:
        SettingsError: a value cannot be used, a name is unknown, or the file cannot be read.
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}

    def take(name: str, value: Any, source: str) -> None:
        values[name], sources[name] = value, source

    path = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    for name, value in _read_file(path).items():
        take(name, value, str(path or CONFIG_FILE))
    for name in Settings.model_fields:
        given = environ.get(variable_of(name))
        # Kubernetes puts tcp://… into ONCEGATE_PORT when a service is called oncegate.
        if given is not None and not is_secret(name) and not (name == "port" and given.startswith("tcp://")):
            take(name, given, variable_of(name))
    for name, value in flags.items():
        if value is not None:
            take(name, value, flag_of(name))
    for name, naming in SECRETS.items():
        variable = values.get(naming, Settings.model_fields[naming].default)
        if isinstance(variable, str) and variable in environ:
            take(name, environ[variable], variable)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as invalid:
        raise SettingsError(_sentence(invalid, sources)) from None
    return Loaded(
        settings=settings,
        sources={name: sources.get(name, "default") for name in Settings.model_fields},
        unread=tuple(unread_variables(environ, settings)),
    )


def unread_variables(environ: Mapping[str, str], settings: Settings) -> Iterator[str]:
    """A sentence for each variable that is called like a setting and is none.

    Told and not refused: Kubernetes makes such names, and a manifest's secret may have one.
    """
    variables = [variable_of(name) for name in Settings.model_fields if not is_secret(name)]
    named = {getattr(settings, naming) for naming in SECRETS.values()} | set(settings.manifest_env)
    known = {*variables, *OTHER_VARIABLES, *named}
    for name in sorted(environ):
        if name.startswith(_PREFIX) and name not in known and not _OF_A_SERVICE.search(name):
            near = difflib.get_close_matches(name, sorted(known), n=1)
            yield f"there is no setting {name}{f'; did you mean {near[0]}?' if near else '.'}"


def _sentence(invalid: ValidationError, sources: Mapping[str, str]) -> str:
    error = invalid.errors(include_url=False, include_input=False)[0]
    name = str(error["loc"][0])
    words = words_for(error, example_of(name))
    return f"{sources.get(name, name)} cannot be used: {words}. {name}: {Settings.model_fields[name].description}"


def example_of(name: str) -> str:
    """What the value of a setting looks like; nothing where its complaint says enough."""
    return _EXAMPLES.get(name) or next((words for end, words in _EXAMPLES.items() if name.endswith(end)), "")


def _read_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        path = Path(CONFIG_FILE)
        if not path.exists():
            return {}
    node, document = _composed(path)
    if not isinstance(document, dict):
        raise SettingsError(f"{path}: the file must hold settings as `name: value`.")
    if node is not None and (twice := _given_twice(node)) is not None:
        raise SettingsError(f"{path}: {twice.value} is given twice, again at line {twice.start_mark.line + 1}.")
    for name in document:
        if name not in Settings.model_fields:
            near = difflib.get_close_matches(str(name), Settings.model_fields, n=1)
            raise SettingsError(f"{path}: there is no setting {name}{f'; did you mean {near[0]}?' if near else '.'}")
        if is_secret(name):
            raise SettingsError(
                f"{path}: {name} is a secret and comes from the environment, not from a file that is copied around."
            )
    return document


def _given_twice(node: yaml.Node) -> yaml.ScalarNode | None:
    """The second key of a name, which YAML would take in silence."""
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                return key
            seen.add(key.value)
    return None


def _composed(path: Path) -> tuple[yaml.Node | None, Any]:
    """The file's YAML, as it is written and as what it stands for."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return node, {} if node is None else yaml.CSafeLoader("").construct_document(node)
    except OSError as unreadable:
        raise SettingsError(f"{path} cannot be read: {unreadable.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text.") from None
    except yaml.YAMLError as malformed:
        raise SettingsError(f"{path} is not YAML: {place_in_yaml(malformed)}.") from None
