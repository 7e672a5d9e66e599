"""The composition: settings in, a gateway out; what cannot be used is one sentence."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.adapters.files.keys import create_key
from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.app import log_fault, open_store
from gateway.contract.call import Caller, ToolCall
from gateway.manifest.policies import Rate
from gateway.settings import SettingsError
from tests.gateway.adapters.otel.scraped import read_scrape
from tests.gateway.manifest.sample import changed
from tests.gateway.pipeline.provider import Provider
from tests.gateway.pipeline.rig import CALLER, keyed, plain, read
from tests.gateway.site import SEAL, Site, closed


def samples(scrape: Mapping[str, Any], part: str) -> list[tuple[Any, float]]:
    """The samples of the metric that has `part` in its name."""
    (name,) = (name for name in scrape if part in name)
    return list(scrape[name].samples.items())


async def test_a_gateway_calls_tools_and_remembers(site: Site) -> None:
    """From settings alone: a call is made, and another process of the same settings knows its answer."""
    provider = Provider()
    await provider.start()
    site.environ["API"] = provider.origin
    settings = {"allow_private": [f"127.0.0.1:{provider.port}"], "seal_key": SEAL}
    call = ToolCall(tool="act", arguments={"order": "A", "amount": 5})
    first = site.assemble(**settings)
    done = await first.core.call(call, CALLER)
    await closed(first)
    second = site.assemble(**settings)
    again = await second.core.call(call, CALLER)
    await closed(second)
    await provider.stop()

    assert (done.ok, again.meta.replayed, again.data) == (True, True, done.data)
    assert len(provider.acts) == 1


async def test_private_addresses_are_refused_unless_named(site: Site) -> None:
    """`allow_private` is the list of those that are not."""
    provider = Provider()
    await provider.start()
    site.environ["API"] = provider.origin
    gateway = site.assemble()
    envelope = await gateway.core.call(ToolCall(tool="get_status", arguments={"order": "A"}), CALLER)
    await closed(gateway)
    await provider.stop()

    assert envelope.error is not None
    assert (envelope.error.code.value, provider.connections) == ("host_not_allowed", 0)


async def test_secrets_come_from_the_environment_or_a_directory(site: Site) -> None:
    """With `secrets_dir`, one file a secret, and the environment's do not count."""
    provider = Provider()
    await provider.start()
    site.environ |= {"API": provider.origin, "TOKEN": "from the environment"}
    site.write(read({"backend.http.headers": {"Authorization": "Bearer ${secret:TOKEN}"}}))
    (site.folder / "secrets").mkdir()
    (site.folder / "secrets" / "TOKEN").write_text("from a file\n", encoding="utf-8")
    (site.folder / "secrets" / ".hidden").write_text("no", encoding="utf-8")
    for settings in ({}, {"secrets_dir": site.folder / "secrets"}):
        gateway = site.assemble(allow_private=[f"127.0.0.1:{provider.port}"], **settings)
        assert (await gateway.core.call(ToolCall(tool="get_status", arguments={"order": "A"}), CALLER)).ok
        await closed(gateway)
    await provider.stop()

    assert [it.headers["authorization"] for it in provider.asked] == [
        "Bearer from the environment",
        "Bearer from a file",
    ]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"manifest_env": ["API", "MISSING"]},
            "manifest_env lists MISSING, which the environment does not have: export MISSING=",
        ),
        ({"manifests": "/nowhere"}, "the manifests in /nowhere cannot be used"),
        ({"secrets_dir": "/nowhere"}, "secrets_dir /nowhere: No such file or directory"),
        (
            {"store": "sqlite:////nowhere/records.db"},
            "sqlite:////nowhere/records.db: the folder of this file is not there.",
        ),
        ({"store": "sqlite:////"}, "sqlite:////: the file cannot be opened: Is a directory."),
        ({"store_wait": 1}, "store_wait needs a store on Redis: sqlite:///"),
        ({"store_wait": 1, "store": "memory://"}, "store_wait needs a store on Redis: memory:// has no replicas"),
        ({"authorization_servers": ["https://login.example"]}, "authorization_servers needs public_url"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(site: Site, settings: dict[str, Any], sentence: str) -> None:
    """It says what and where, before anything is served."""
    with pytest.raises(SettingsError) as refused:
        site.assemble(**settings)

    assert str(refused.value).startswith(sentence)


def test_a_manifest_that_is_wrong_stops_the_start(site: Site) -> None:
    """With file, line and column."""
    site.write(changed(plain(), {"effect": "wrong"}))
    with pytest.raises(SettingsError, match=r"act\.yaml:\d+:\d+: "):
        site.assemble()


def test_a_variable_that_is_not_listed_is_refused(site: Site) -> None:
    """A manifest reads no other environment than `manifest_env`."""
    site.environ["SECRET_THING"] = "x"
    site.write(read({"backend.http.url": "${SECRET_THING}/orders/{args.order}"}))
    with pytest.raises(SettingsError, match="SECRET_THING"):
        site.assemble()


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("k1:not-thirty-two-bytes-of-anything", "seal key 1: not base64"),
        (SEAL.removeprefix("k1:"), "seal key 1: it has no id before it"),
    ],
)
def test_a_sealed_store_needs_a_key_that_can_be_one(site: Site, key: str, why: str) -> None:
    """The variable and the form are named, nothing of the key is, and nothing is opened with it."""
    with pytest.raises(SettingsError, match=f"^ONCEGATE_SEAL_KEY cannot be used: {why}") as refused:
        open_store(site.settings(seal_key=key))

    assert "; a seal key is ID:BASE64, made by `echo k1:$(openssl rand -base64 32)`." in str(refused.value)
    assert key not in str(refused.value)
    assert not (site.folder / "records.db").exists()


async def test_memory_is_a_store_that_forgets(site: Site) -> None:
    """`memory://`; anything else here is a file."""
    memory, file = open_store(site.settings(store="memory://")), open_store(site.settings())
    try:
        assert isinstance(memory, MemoryOperationStore)
        assert isinstance(file, SqliteOperationStore)
        assert (memory.durable, file.durable) == (False, True)
    finally:
        await memory.close()
        await file.close()


async def test_what_an_operator_sets_reaches_the_pipeline(site: Site) -> None:
    """Each bound, under its own name; the key of argument hashes is the operator's or drawn anew."""
    given = {
        "lease_s": 3.0,
        "waiters": 5,
        "sweep_interval_s": 7.0,
        "retention_s": 99.0,
        "rows": "sync",
        "allow_volatile": True,
        "argument_hash_key": "a key of this deployment",
        "caller_rate": ["50/s", "600/m"],
        "tenant_rate": ["7/h"],
    }
    gateways = [site.assemble(**given), site.assemble(store="memory://"), site.assemble(store="memory://")]
    chosen, drawn, other = (it.core._parts.choices for it in gateways)
    for gateway in gateways:
        await closed(gateway)

    assert (chosen.lease_s, chosen.waiters, chosen.sweep_interval_s, chosen.retention_s) == (3.0, 5, 7.0, 99.0)
    assert (chosen.sync_rows, chosen.allow_volatile, chosen.hash_key) == (True, True, b"a key of this deployment")
    assert (drawn.sync_rows, drawn.allow_volatile, len(drawn.hash_key)) == (False, False, 32)
    assert drawn.hash_key != other.hash_key
    assert chosen.rates.caller == (Rate(count=50, per_s=1.0), Rate(count=600, per_s=60.0))
    assert chosen.rates.tenant == (Rate(count=7, per_s=3600.0),)
    assert not drawn.rates


async def test_reloading_takes_manifests_and_keys(site: Site) -> None:
    """New tools are in the catalogue, changed keys are in use, and a bad manifest keeps the old ones."""
    gateway = site.assemble()
    site.write(keyed({"name": "third"}))
    gateway.reload()
    names = [it.name for it in await gateway.core.catalogue(CALLER)]
    site.write(changed(plain(), {"effect": "wrong"}))
    gateway.reload()
    kept = [it.name for it in await gateway.core.catalogue(CALLER)]
    scrape = read_scrape(gateway.core.metrics())
    await closed(gateway)

    assert names == kept == ["act", "get_status", "third"]
    reloads = {dict(pairs)["oncegate_reload_result"]: count for (_, pairs), count in samples(scrape, "config_reload")}
    assert reloads == {"accepted": 1, "rejected": 1}
    assert {dict(pairs)["gen_ai_tool_name"] for (_, pairs), _ in samples(scrape, "manifest_info")} == set(names)


@pytest.mark.parametrize("bad", ["keys", "issuers", "manifests"])
async def test_a_reload_that_refused_one_file_takes_the_others_and_says_so(
    site: Site, caplog: pytest.LogCaptureFixture, bad: str
) -> None:
    """The line of what is in use does not sound as if everything had been taken."""
    caplog.set_level(logging.INFO, logger="oncegate")
    files = {name: site.folder / f"{name}.json" for name in ("keys", "issuers")}
    files["issuers"].write_text(
        '{"issuers": [{"issuer": "https://i.example", "audience": "a", "algorithms": ["RS256"], "tenants": ["acme"]}]}'
    )
    create_key(files["keys"], subject="agent", tenant="acme", permissions=(), attributes={})
    gateway = site.assemble(issuers=files["issuers"])
    create_key(files["keys"], subject="other", tenant="acme", permissions=(), attributes={})
    site.write(keyed({"name": "third"}))
    if bad == "manifests":
        site.write(changed(plain(), {"effect": "wrong"}))
    else:
        files[bad].write_text("{")
    caplog.clear()
    gateway.reload()
    readiness = await gateway.core.ready()
    scrape = read_scrape(gateway.core.metrics())
    await closed(gateway)

    named = "API keys" if bad == "keys" else bad
    warning = f"Not taken anew: {named}. Those of before stay in use, and the log says what is wrong."
    assert (readiness.ready, readiness.warnings) == (True, (warning,))
    said = f"not all was taken anew; in use are {2 + (bad != 'manifests')} tools, {1 + (bad != 'keys')} API keys"
    assert said in caplog.text
    assert [dict(pairs)["oncegate_reload_result"] for (_, pairs), _ in samples(scrape, "config_reload")] == ["rejected"]


async def test_readiness_warns_until_what_was_refused_is_mended(site: Site) -> None:
    """Not before, and not after."""
    gateway = site.assemble()
    told = [(await gateway.core.ready()).warnings]
    for manifest in (changed(plain(), {"effect": "wrong"}), plain()):
        site.write(manifest)
        gateway.reload()
        told.append((await gateway.core.ready()).warnings)
    await closed(gateway)

    assert [len(warnings) for warnings in told] == [0, 1, 0]


async def test_a_key_file_that_cannot_be_used_is_no_start(site: Site) -> None:
    """One sentence: a gateway that knows no key would look like one that refuses everybody for good reason."""
    (site.folder / "keys.json").write_text("{")

    with pytest.raises(SettingsError, match=r"^the keys cannot be used: .*keys\.json is not a file of API keys\.$"):
        site.assemble()


async def test_nobody_gets_in_without_a_key_file(site: Site) -> None:
    """It starts, and knows no key."""
    gateway = site.assemble()
    known = gateway.authenticator.authenticate("og_" + "a" * 12 + "_" + "b" * 43)
    await closed(gateway)

    assert known is None


async def test_a_caller_without_permissions_sees_no_tool(site: Site) -> None:
    """The catalogue is the caller's."""
    gateway = site.assemble()
    nobody = Caller(subject="nobody", tenant="acme")
    counts = [len(await gateway.core.catalogue(caller)) for caller in (nobody, CALLER)]
    await closed(gateway)

    assert counts == [0, 2]


def test_a_fault_of_our_own_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """With its place and its trace, for operators only."""
    with caplog.at_level(logging.ERROR):
        log_fault("sweeper", RuntimeError("planted"))

    assert "unexpected fault in sweeper" in caplog.text
    assert "planted" in caplog.text


async def test_what_is_in_use_is_one_line_and_what_cannot_work_a_warning(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """At start and at every reload: tools, keys, store and hosts; and the option that a private host needs."""
    caplog.set_level(logging.INFO, logger="oncegate")
    gateway = site.assemble()
    started = [record.getMessage() for record in caplog.records]
    caplog.clear()
    gateway.reload()
    reloaded = [record.getMessage() for record in caplog.records]
    await closed(gateway)
    caplog.clear()
    await closed(site.assemble(allow_private=["127.0.0.1:9"]))

    loaded = f"2 tools, 0 API keys, store sqlite:///{site.folder / 'records.db'}; hosts: 127.0.0.1 port 9"
    warning = (
        "every call of act, get_status will be refused: 127.0.0.1 port 9 is not public; "
        "if it is meant, serve with --allow-private 127.0.0.1:9"
    )
    assert [line for line in started if "API keys at" not in line] == [loaded, warning]
    assert reloaded[-2:] == [loaded, warning]
    assert warning not in caplog.text


async def test_a_command_that_is_not_allowed_is_told_at_start(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """A process is no host; who starts one must be told of the setting that allows it."""
    section = {"command": "refund-server", "tool": "act", "digest": f"sha256:{'0' * 64}"}
    site.write(plain({"name": "local", "backend": {"mcp": section}}))
    caplog.set_level(logging.INFO, logger="oncegate")
    await closed(site.assemble())
    warning = "every call of local will be refused: refund-server is not among mcp_commands"
    assert warning in caplog.text
    assert "stdio.invalid" not in caplog.text
    caplog.clear()
    await closed(site.assemble(mcp_commands=["refund-server"]))
    assert warning not in caplog.text


async def test_the_keys_that_were_loaded_are_counted(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """Their number, nothing of them."""
    caplog.set_level(logging.INFO, logger="oncegate")
    create_key(site.folder / "keys.json", subject="agent", tenant="acme", permissions=(), attributes={})
    await closed(site.assemble())

    assert "2 tools, 1 API keys" in caplog.text
