"""`oncegate certify` against the demo provider, each its own process."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import Result

from bench.nursery import forked
from gateway.cli.certify import exit_code
from gateway.cli.certifying.findings import Certificate, Verdict
from gateway.cli.exits import Exit
from gateway.demo.provider_process import ProviderProcess
from tests.gateway.cli.certifying.test_findings import certificate
from tests.gateway.cli.interrupting import interrupt
from tests.gateway.cli.run import run

MANIFESTS = Path(__file__).parents[3] / "tool_manifests"
WORDS = ("order_id=ORD-7", "payment_id=PAY-7", "amount_paise:=100")


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """The example tools, with look-ups that are confirmed at once."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for file in MANIFESTS.glob("*.yaml"):
        (folder / file.name).write_text(file.read_text().replace("confirm_every: 2s", "confirm_every: 10ms"))
    return folder


@pytest.fixture
async def provider(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[ProviderProcess]:
    """The demo provider, with the flags of the test."""
    started = await ProviderProcess.start(tmp_path, *getattr(request, "param", ()), launch=forked)
    yield started
    await started.stop()


async def certify(provider: ProviderProcess, manifests: Path, *words: str, **environment: str) -> Result:
    """The command, in a thread of its own."""
    line = ("certify", "issue_refund", "--against", provider.url, "--manifests", str(manifests), *WORDS, *words)
    return await asyncio.to_thread(run, *line, environment=environment)


async def test_the_demo_provider_is_certified(provider: ProviderProcess, manifests: Path) -> None:
    """While one request is held, the other with its key is answered as declared; two keys are two refunds."""
    await provider.script("ORD-7", {}, {}, {}, {"hold": "effect"})
    running = asyncio.create_task(certify(provider, manifests))
    await provider.event("over", "ORD-7", nth=4)
    await provider.release("ORD-7")
    result = await running

    assert result.exit_code == 0, result.output
    assert "0 false, 2 unchecked; 5 requests that act were sent" in result.stdout
    assert "200 and 409" in result.stdout or "409 and 200" in result.stdout
    assert await provider.effects("ORD-7") == 2


@pytest.mark.parametrize("provider", [("--keys", "ignore")], indirect=True)
async def test_a_provider_that_ignores_keys_is_found_out(provider: ProviderProcess, manifests: Path) -> None:
    """The claims that are false are named, for programs too."""
    result = await certify(provider, manifests, "--json")
    document = json.loads(result.stdout)

    assert result.exit_code == 1
    assert document["ok"] is False
    false = {it["field"] for it in document["findings"] if it["verdict"] == "false"}
    assert false == {"downstream_key", "downstream_key.replay_marker", "downstream_key.mismatch_status"}
    assert {
        "field": "downstream_key",
        "says": "the same key has one effect",
        "seen": "2 effects",
        "verdict": "false",
    } in (document["findings"])


async def test_what_production_is_needs_the_flag(provider: ProviderProcess, manifests: Path) -> None:
    """Nothing is sent where the gateway itself sends calls."""
    result = await certify(provider, manifests, PAYMENTS_URL=provider.url)

    assert result.exit_code == 2
    assert "say --production" in result.stderr
    assert await provider.effects() == 0


def test_the_tool_is_one_of_the_settings_and_uses_only_names_that_they_list(manifests: Path) -> None:
    """`manifests` and `manifest_env`, as for `serve`."""
    line = ("certify", "issue_refund", "--against", "http://127.0.0.1:9", "--manifests", str(manifests), *WORDS)
    unlisted = run(*line, "--manifest-env", "OTHER_URL")
    (manifests / "issue_refund.yaml").unlink()
    gone = run(*line)
    nowhere = run(*line, "--manifests", str(manifests / "nowhere"))

    assert (unlisted.exit_code, gone.exit_code, nowhere.exit_code) == (2, 2, 2)
    assert "there is no such directory" in nowhere.stderr
    assert "PAYMENTS_URL is not an environment name that the operator lists" in unlisted.stderr
    assert "there is no tool issue_refund" in gone.stderr


async def test_an_unknown_outcome_is_called_so(provider: ProviderProcess, manifests: Path) -> None:
    """It may have acted, and the rest is not tried."""
    await provider.script("ORD-7", {"ending": "close"})
    result = await certify(provider, manifests)

    assert result.exit_code == 4
    assert "interrupted: the first request got no answer" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--patience", "soon"), "--patience: "),
        (("--other", "x"), "is no argument"),
        (("--other", "reason=other"), "--other gives the same request"),
    ],
)
async def test_wrong_words_are_usage_errors(
    provider: ProviderProcess, manifests: Path, words: tuple[str, ...], said: str
) -> None:
    """Before anything is sent."""
    result = await certify(provider, manifests, *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert await provider.effects() == 0


def test_exit_codes_tell_false_from_unknown_from_unchecked() -> None:
    """A script need not read sentences."""
    unknown = Certificate(
        tool="t", manifest_digest="d", against="u", acts=1, findings=(), interrupted="x", unknown=True
    )

    assert exit_code(certificate(Verdict.SHOWN, Verdict.UNCHECKED)) == Exit.OK
    assert exit_code(certificate(Verdict.SHOWN, Verdict.UNCHECKED), strict=True) == Exit.NO
    assert exit_code(certificate(Verdict.FALSE)) == Exit.NO
    assert exit_code(certificate(interrupted="x")) == Exit.NO
    assert exit_code(unknown) == Exit.UNKNOWN


async def test_an_interrupted_certification_is_unknown(provider: ProviderProcess, manifests: Path) -> None:
    """Ctrl-C while staging holds its answer: code 4, and what was sent may have been carried out."""
    await provider.script("ORD-7", {"hold": "effect"})
    line = ("certify", "issue_refund", "--against", provider.url, "--manifests", str(manifests), *WORDS)
    ended = await interrupt(*line, url=provider.url, key="k", when=provider.event("received", "ORD-7"))

    assert ended.code == 4
    assert f"interrupted. What was sent to {provider.url} MAY have been carried out." in ended.stderr
    assert "Traceback" not in ended.stderr
