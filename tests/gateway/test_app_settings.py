"""Settings that the composition only hands on: each reaches the part that it is for."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.files.keys import create_key
from gateway.adapters.otel.settings import InboundTrace, LogCalls, TelemetrySettings
from gateway.adapters.sqlite.host import this_host
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.app import open_store
from gateway.contract.call import Caller, ToolCall, Unproved
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.settings import SettingsError
from gateway.stages.execute.operation.ports import RowFilter
from tests.gateway.manifest.sample import changed
from tests.gateway.pipeline.rig import CALLER, read
from tests.gateway.site import Site, closed

NOBODY_LISTENS = "http://127.0.0.1:9"


async def test_every_setting_of_telemetry_reaches_it(site: Site) -> None:
    """None of them is dropped on the way."""
    gateway = site.assemble(
        otlp_endpoint=NOBODY_LISTENS,
        attempt_spans=False,
        server_spans=True,
        inbound_trace="link",
        sample_ratio=0.5,
        log_calls="none",
        metric_interval_s=7.0,
        capture=True,
    )
    chosen = gateway.telemetry._core.settings
    await closed(gateway)

    assert chosen == TelemetrySettings(
        otlp_endpoint=NOBODY_LISTENS,
        attempt_spans=False,
        server_spans=True,
        inbound_trace=InboundTrace.LINK,
        sample_ratio=0.5,
        log_calls=LogCalls.NONE,
        metric_interval_s=7.0,
        capture=True,
    )


async def test_callers_are_those_of_the_key_file(site: Site) -> None:
    """`keys` names the file that lets callers in."""
    named = site.folder / "others.json"
    key, _ = create_key(named, subject="lead", tenant="acme", permissions=(), attributes={})
    gateway = site.assemble(keys=named)
    caller = gateway.authenticator.authenticate(key)
    await closed(gateway)

    assert isinstance(caller, Caller)
    assert caller.subject == "lead"


async def test_issuers_that_cannot_be_used_stop_the_start(site: Site) -> None:
    """`issuers` is read before anything is served; the sentence says where it is wrong."""
    path = site.folder / "issuers.yaml"
    path.write_text("issuers:\n- issuer: http://login.example\n")
    with pytest.raises(SettingsError, match=rf"^{path}:2: issuers\.0\.issuer: "):
        site.assemble(issuers=path)


async def test_callers_may_come_from_issuers_too(site: Site) -> None:
    """`issuers` names the file; a key is still a key, and a reload takes both files."""
    key, _ = create_key(site.folder / "keys.json", subject="lead", tenant="acme", permissions=(), attributes={})
    path = site.folder / "issuers.yaml"
    path.write_text(
        "issuers: [{issuer: 'https://login.example', audience: a, algorithms: ES256, tenants: acme}]", encoding="utf-8"
    )
    gateway = site.assemble(issuers=path)
    caller, nobody = gateway.authenticator.authenticate(key), gateway.authenticator.authenticate("eyJ.e30.x")
    (site.folder / "keys.json").unlink()
    path.write_text("issuers: []", encoding="utf-8")
    gateway.reload()
    gone = gateway.authenticator.authenticate(key)
    await closed(gateway)

    assert isinstance(caller, Caller)
    assert caller.subject == "lead"
    assert isinstance(nobody, Unproved)
    assert gone is None


async def test_rows_go_when_their_retention_ends(site: Site) -> None:
    """`rows_retention_s`; without it an old row stays."""
    old = ExecutionRow(
        row_id="1", kind=RowKind.CALL, at_wall=time.time() - 120, tenant="acme", subject="agent", tool="act"
    )
    store = open_store(site.settings())
    await store.append_rows((old,), strict=True)
    await store.forget(retention_s=1e9)
    kept = await store.list_rows(RowFilter(tenant="acme"))
    await store.close()
    store = open_store(site.settings(rows_retention_s=60.0))
    await store.forget(retention_s=1e9)
    left = await store.list_rows(RowFilter(tenant="acme"))
    await store.close()

    assert (len(kept), len(left)) == (1, 0)


async def test_rows_in_memory_go_when_their_retention_ends(site: Site) -> None:
    """`rows_retention_s`; without it an old row stays."""
    old = ExecutionRow(
        row_id="1", kind=RowKind.CALL, at_wall=time.time() - 120, tenant="acme", subject="agent", tool="act"
    )
    left = []
    for retention_s in (None, 60.0):
        store = open_store(site.settings(store="memory://", rows_retention_s=retention_s))
        await store.append_rows((old,), strict=True)
        await store.forget(retention_s=1e9)
        left.append(len(await store.list_rows(RowFilter(tenant="acme"))))
        await store.close()

    assert left == [1, 0]


@pytest.mark.parametrize("store", ["memory://", "redis://127.0.0.1:9"])
def test_only_a_file_can_have_been_moved_here(site: Site, store: str) -> None:
    """`accept_host` with another store would do nothing, and is refused with a sentence."""
    with pytest.raises(SettingsError, match=r"^accept_host is for a file that was moved here, .*none\.$"):
        open_store(site.settings(store=store, accept_host=True))


async def test_a_file_of_another_machine_is_taken_over_only_on_purpose(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`accept_host`; without it one sentence says why not."""
    here = replace(this_host(), host_id="here")
    elsewhere = replace(here, host_id="elsewhere", boot_id="another")
    monkeypatch.setattr("gateway.adapters.sqlite.store.this_host", lambda: here)
    await SqliteOperationStore.open(tmp_path / "records.db", host=elsewhere).close()

    with pytest.raises(SettingsError, match=r"another (machine|host)"):
        open_store(site.settings())
    await open_store(site.settings(accept_host=True)).close()


async def test_tokens_for_a_gateway_with_a_name_are_no_trouble(site: Site) -> None:
    """`authorization_servers` beside the `public_url` that they need."""
    named = site.assemble(authorization_servers=["https://login.example"], public_url="https://gateway.example")
    await closed(named)

    assert sorted(named.core._parts.tools.catalogue.tools) == ["act", "get_status"]


async def test_only_commands_that_are_allowed_are_started(site: Site) -> None:
    """`mcp_commands`; a program that is not among them is not run, and the call says why."""
    ran = site.folder / "ran"
    program = site.folder / "server"
    program.write_text(f"#!/bin/sh\necho ran >> {ran}\n", encoding="utf-8")
    program.chmod(0o755)
    section = {"command": str(program), "tool": "status", "digest": f"sha256:{'0' * 64}"}
    site.write(changed(read(), {"name": "there", "backend": {"mcp": section}}))
    call = ToolCall(tool="there", arguments={"order": "A"})
    told = []
    for commands in ([], [str(program)]):
        gateway = site.assemble(mcp_commands=commands)
        told.append(((await gateway.core.call(call, CALLER)).ok, ran.exists()))
        await closed(gateway)

    assert told == [(False, False), (False, True)]
