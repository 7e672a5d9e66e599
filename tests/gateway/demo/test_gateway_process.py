from pathlib import Path

import httpx
import pytest

from gateway.demo.gateway_process import KeyNotMadeError, create_key, start_gateway
from gateway.demo.processes import NotStartedError
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import MANIFESTS

pytestmark = pytest.mark.slow


async def test_a_gateway_takes_calls_with_the_key_that_was_made(provider: ProviderProcess, tmp_path: Path) -> None:
    """The key's permissions reach the tools of the manifests, and the manifests reach the provider."""
    key = await create_key(tmp_path / "keys.json", subject="agent", tenant="demo", permissions=["refunds:read"])
    gateway = await start_gateway(tmp_path, manifests=MANIFESTS, provider_url=provider.url)
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=gateway.url, headers=headers, trust_env=False) as client:
        read = await client.post("/v1/tools/get_refund_status/calls", json={"arguments": {"order_id": "ORD-1"}})
        write = await client.post("/v1/tools/issue_refund/calls", json={"arguments": {}})
    code = await gateway.stop()

    assert read.json()["data"] == {"refunds": [], "complete": True}
    assert write.status_code in {403, 404, 422}
    assert code == 0


async def test_a_key_has_the_attributes_that_were_asked_for(provider: ProviderProcess, tmp_path: Path) -> None:
    """The rules of the manifests see them: with a limit of its own, a caller is asked to find a person."""
    key = await create_key(
        tmp_path / "keys.json",
        subject="agent",
        tenant="demo",
        permissions=["refunds:write"],
        attributes={"max_refund_paise": 10},
    )
    gateway = await start_gateway(tmp_path, manifests=MANIFESTS, provider_url=provider.url)
    headers = {"Authorization": f"Bearer {key}"}
    refund = {"order_id": "ORD-1", "payment_id": "p", "amount_paise": 11}
    async with httpx.AsyncClient(base_url=gateway.url, headers=headers, trust_env=False) as client:
        answer = await client.post("/v1/tools/issue_refund/calls", json={"arguments": refund})
    await gateway.stop()

    assert answer.json()["error"]["code"] == "approval_required"


async def test_options_are_settings(provider: ProviderProcess, tmp_path: Path) -> None:
    """A setting that cannot be used keeps the gateway from starting, and the reason is in the error."""
    await create_key(tmp_path / "keys.json", subject="agent", tenant="demo", permissions=[])
    with pytest.raises(NotStartedError, match="LEASE"):
        await start_gateway(
            tmp_path, manifests=MANIFESTS, provider_url=provider.url, options={"ONCEGATE_LEASE_S": "never"}
        )


async def test_the_settings_of_this_place_do_not_leak_in(
    provider: ProviderProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the environment's settings nor a settings file in the working directory reach the gateway."""
    monkeypatch.setenv("ONCEGATE_LEASE_S", "never")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "oncegate.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    await create_key(tmp_path / "keys.json", subject="agent", tenant="demo", permissions=[])
    gateway = await start_gateway(tmp_path, manifests=MANIFESTS, provider_url=provider.url)

    assert await gateway.stop() == 0


async def test_a_key_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    """Where the file cannot be written there is no key."""
    (tmp_path / "keys.json").mkdir()
    with pytest.raises(KeyNotMadeError):
        await create_key(tmp_path / "keys.json", subject="agent", tenant="demo", permissions=[])
