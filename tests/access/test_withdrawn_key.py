"""A gateway process, an issuer of tokens, and what a lead allowed with a token before the signing key was withdrawn."""

from pathlib import Path
from typing import Any, Final

import pytest

from bench.faults import client
from bench.faults.client import Refund
from bench.nursery import forked
from bench.scenarios.approvals import LARGE_PAISE
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from bench.scenarios.stage import TOOLS, Column
from bench.scenarios.target import Kind
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess
from tests.access.belief import until_refused
from tests.gateway.adapters.oidc.issuer import LocalIssuer, SigningKey, ec_key, entry, real_now, write

REFUND: Final = Refund(order="ORD-1", tool=TOOLS[Column.PLAIN], amount_paise=LARGE_PAISE)
CLAIMS: Final = {"permissions": "scope"}


def lead(issuer: LocalIssuer, key: SigningKey) -> str:
    """A lead's token, signed with this key."""
    return issuer.token(key, now=real_now(), sub="lead-1", scope="refunds:approve")


async def start(folder: Path, issuer: LocalIssuer, provider: ProviderProcess, **changes: Any) -> Child:
    """A gateway that believes the issuer, and looks at files and keys often."""
    file = write(folder / "issuers.yaml", entry(issuer, claims=CLAIMS, refresh="1s", cooldown="1s", **changes))
    options = {"ONCEGATE_ISSUERS": str(file), "ONCEGATE_RELOAD_INTERVAL_S": "50ms"}
    return await start_gateway(folder, manifests=MANIFESTS, provider_url=provider.url, options=options, launch=forked)


@pytest.mark.parametrize("taken_back", ["key", "audience", "issuer down"])
async def test_what_a_lead_allowed_goes_with_what_proved_the_lead(
    tmp_path: Path, issuer: LocalIssuer, taken_back: str
) -> None:
    """Nothing is sent for it, and another lead's yes lets it out once; an issuer that is merely down takes nothing back."""
    agent, _ = create_key(
        tmp_path / "keys.json", subject="agent", tenant="acme", permissions=PERMISSIONS, attributes={}
    )
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    gateway = await start(tmp_path, issuer, provider)
    first, second = issuer.keys[0], ec_key("k2")
    try:
        waits = await client.call(gateway.url, agent, REFUND)
        assert waits.approval_id is not None
        token = lead(issuer, first)
        assert (await client.decide(gateway.url, token, waits.approval_id, "approve")).told.kind is Kind.DONE
        match taken_back:
            case "key":
                issuer.keys = [second]
                await until_refused(gateway.url, token)
            case "audience":
                write(tmp_path / "issuers.yaml", entry(issuer, claims=CLAIMS, audience="https://other.example"))
                await until_refused(gateway.url, token)
            case _:
                await issuer.stop()

        after = await client.call(gateway.url, agent, REFUND)
        if taken_back == "issuer down":
            assert after.told.kind is Kind.DONE
        else:
            assert (after.told.code, after.approval_id) == ("approval_required", waits.approval_id)
            told: Any = await provider.ledger(REFUND.order)
            assert told["requests"] == []
        if taken_back == "key":
            again = await client.decide(gateway.url, lead(issuer, second), waits.approval_id, "approve")
            assert again.told.kind is Kind.DONE
            assert (await client.call(gateway.url, agent, REFUND)).told.kind is Kind.DONE
        assert len(await provider.refunds(REFUND.order)) == (0 if taken_back == "audience" else 1)
    finally:
        await gateway.stop()
        await provider.stop()
