"""A gateway process, two leads with API keys, and what one of them allowed before the key was taken away."""

from pathlib import Path
from typing import Any, Final

from bench.faults import client
from bench.faults.client import Refund
from bench.nursery import forked
from bench.scenarios.approvals import LARGE_PAISE
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from bench.scenarios.stage import TOOLS, Column
from bench.scenarios.target import Kind
from gateway.adapters.files.keys import create_key, revoke_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.provider_process import ProviderProcess
from tests.access.belief import until_refused

REFUND: Final = Refund(order="ORD-1", tool=TOOLS[Column.PLAIN], amount_paise=LARGE_PAISE)


def key(folder: Path, subject: str, *permissions: str) -> tuple[str, str]:
    """A key's text, and its id."""
    text, entry = create_key(
        folder / "keys.json", subject=subject, tenant="acme", permissions=permissions, attributes={}
    )
    return text, entry.key_id


async def test_what_a_lead_allowed_is_void_without_the_leads_key(tmp_path: Path) -> None:
    """The call goes out only when somebody who still may has allowed it; the provider sees it once."""
    agent, _ = key(tmp_path, "agent", *PERMISSIONS)
    first, first_id = key(tmp_path, "lead-1", "refunds:approve")
    second, _ = key(tmp_path, "lead-2", "refunds:approve")
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    gateway = await start_gateway(
        tmp_path,
        manifests=MANIFESTS,
        provider_url=provider.url,
        options={"ONCEGATE_RELOAD_INTERVAL_S": "100ms"},
        launch=forked,
    )
    try:
        waits = await client.call(gateway.url, agent, REFUND)
        assert waits.approval_id is not None
        assert (await client.decide(gateway.url, first, waits.approval_id, "approve")).told.kind is Kind.DONE
        assert revoke_key(tmp_path / "keys.json", first_id)
        await until_refused(gateway.url, first)

        void = await client.call(gateway.url, agent, REFUND)
        told: Any = await provider.ledger(REFUND.order)
        assert (void.told.code, void.approval_id) == ("approval_required", waits.approval_id)
        assert told["requests"] == []

        assert (await client.decide(gateway.url, second, waits.approval_id, "approve")).told.kind is Kind.DONE
        assert (await client.call(gateway.url, agent, REFUND)).told.kind is Kind.DONE
        assert len(await provider.refunds(REFUND.order)) == 1
    finally:
        await gateway.stop()
        await provider.stop()
