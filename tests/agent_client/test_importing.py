"""What importing the client costs."""

import json
import subprocess
import sys

HEAVY = {
    "starlette",
    "redis",
    "aiohttp",
    "uvicorn",
    "apsw",
    "orjson",
    "rfc8785",
    "cryptography",
    "asyncpg",
    "psycopg",
    "dbos",
    "opentelemetry",
}


def test_importing_the_client_loads_no_server_and_no_extra() -> None:
    """In a fresh interpreter, whatever is installed beside it."""
    program = "import json, sys, agent_client; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout

    loaded = set(json.loads(printed))
    assert not loaded & HEAVY
    assert {"httpx", "pydantic"} <= loaded


def test_of_the_gateway_only_the_contract_is_loaded() -> None:
    """The wire contract is all they share."""
    program = "import json, sys, agent_client; print(json.dumps([m for m in sys.modules if m.startswith('gateway')]))"

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout

    assert all(m in ("gateway", "gateway.contract") or m.startswith("gateway.contract.") for m in json.loads(printed))
