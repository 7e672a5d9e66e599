"""What a gateway does not use it does not load: each library is megabytes of resident memory."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from gateway.adapters.files.keys import create_key
from tests.gateway.site import SEAL, Site

OF_A_SETTING = {
    "redis": {"store": "redis://127.0.0.1:9"},
    "cryptography": {"seal_key": SEAL},
    "google.protobuf": {"otlp_endpoint": "http://127.0.0.1:9"},
    "jwt": {"issuers": "issuers.yaml"},
    "httpx": {"issuers": "issuers.yaml"},
}
"""Library -> the setting that needs it."""
OF_COMMANDS = (
    "rich",
    "pygments",
    "agent_client",
    "gateway.demo",
    "hypothesis",
    "mypy",
    "setuptools",
    "aiohttp",
    "dbos",
    "asyncpg",
)
PROGRAM = """
import json, os, sys
from gateway.app import assemble
from gateway.cli import serve
from gateway.settings import Settings
assemble(Settings.model_validate(json.loads(sys.argv[1])), os.environ)
print(json.dumps([name for name in json.loads(sys.argv[2]) if name in sys.modules]), flush=True)
os._exit(0)
"""


def loaded(site: Site, **settings: Any) -> list[str]:
    """Which of the libraries a process has that assembled a gateway to serve."""
    create_key(site.folder / "keys.json", subject="lead", tenant="acme", permissions=(), attributes={})
    told = site.settings(**{name: value for name, value in settings.items() if name != "seal_key"})
    given = told.model_dump(mode="json", exclude_unset=True) | settings
    names = [*OF_A_SETTING, *OF_COMMANDS]
    command = [sys.executable, "-c", PROGRAM, json.dumps(given), json.dumps(names)]
    environment = os.environ | site.environ
    done = subprocess.run(command, env=environment, cwd=site.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_gateway_on_sqlite_loads_no_library_of_what_is_not_set(site: Site) -> None:
    """Nothing of Redis, sealing, OTLP or tokens, and nothing of a command but `serve`."""
    assert loaded(site) == []


@pytest.mark.parametrize("name", OF_A_SETTING)
def test_what_a_setting_names_is_loaded(site: Site, name: str) -> None:
    """So that the test above asks for names that exist."""
    (site.folder / "issuers.yaml").write_text(
        "issuers: [{issuer: 'https://login.example', audience: a, algorithms: ES256, tenants: acme}]", encoding="utf-8"
    )
    assert name in loaded(site, **OF_A_SETTING[name])
