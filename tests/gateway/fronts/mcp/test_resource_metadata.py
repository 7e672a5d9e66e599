import pytest

from gateway.app import assemble
from gateway.fronts.mcp.resource_metadata import ResourceMetadata
from gateway.settings import Settings, SettingsError
from tests.gateway.fronts.http.served import Served, serving
from tests.gateway.fronts.mcp.asking import message, send

ISSUER = "https://login.example.com"


def test_without_an_issuer_there_is_none() -> None:
    """API keys come from an operator."""
    assert ResourceMetadata.of(Settings()) is None
    assert ResourceMetadata.of(Settings(public_url="https://gate.example.com")) is None


def test_an_issuer_needs_a_resource() -> None:
    """A token is asked for something, so a gateway without a name does not start."""
    with pytest.raises(SettingsError, match="public_url"):
        assemble(Settings(authorization_servers=(ISSUER,)), {})


async def test_clients_find_it_from_the_challenge() -> None:
    """A 401 names the document, and the document names the issuer; the root has it too."""
    async with serving(public_url="https://gate.example.com", authorization_servers=[ISSUER]) as served:
        status, headers, _ = await send(served, message("ping"), Authorization="")
        own = await served.client.get("/.well-known/oauth-protected-resource/mcp", headers={"Authorization": ""})
        root = await served.client.get("/.well-known/oauth-protected-resource", headers={"Authorization": ""})

    assert status == 401
    expected = "https://gate.example.com/.well-known/oauth-protected-resource/mcp"
    assert headers["www-authenticate"] == f'bearer realm="oncegate", resource_metadata="{expected}"'
    assert own.json() == {
        "resource": "https://gate.example.com/mcp",
        "resource_name": "OnceGate",
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
    }
    assert root.json() == own.json()


async def test_otherwise_there_is_no_such_route(served: Served) -> None:
    """A document without an issuer would send clients in a circle."""
    answer = await served.client.get("/.well-known/oauth-protected-resource/mcp")
    _, headers, _ = await send(served, message("ping"), Authorization="")

    assert answer.status_code == 404
    assert headers["www-authenticate"] == 'bearer realm="oncegate"'
