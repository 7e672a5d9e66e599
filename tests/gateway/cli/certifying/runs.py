"""One certification in a test: real sockets, and waits that pass at once."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.cli.certifying.checks import Certification
from gateway.cli.certifying.findings import Certificate, Verdict
from gateway.cli.certifying.orders import Order
from gateway.cli.certifying.probe import Probe
from gateway.manifest.building import Operator
from gateway.manifest.catalog import load
from gateway.manifest.tool import Tool
from tests.gateway.cli.certifying.bank import MANIFEST, READ, Bank
from tests.gateway.manifest.sample import OPERATOR, changed
from tests.waiting import turns

ORDER = Order(arguments={"order": "A", "n": 1}, other={"order": "A", "n": 2}, refused={"order": "A", "n": 13})


class SkippingClock(SystemClock):
    """The machine's clock, on which every pause takes no time and is over."""

    def __init__(self) -> None:
        self.skipped_s = 0.0

    def monotonic(self) -> float:
        return SystemClock.monotonic() + self.skipped_s

    async def sleep(self, seconds: float) -> None:
        self.skipped_s += seconds
        await turns()


def tools(url: str, changes: Mapping[str, Any] | None = None) -> tuple[Tool, Tool]:
    """The bank's tools, the one that acts with changes."""
    files = [("act.yaml", json.dumps(changed(MANIFEST, changes))), ("list.yaml", json.dumps(READ))]
    loaded = load(files, Operator(engine=OPERATOR.engine, environment={"BANK_URL": url}, secrets={}))
    assert loaded.catalogue is not None, loaded.complaints
    return loaded.catalogue.tools["act"], loaded.catalogue.tools["list"]


async def certified(bank: Bank, changes: Mapping[str, Any] | None = None, order: Order = ORDER) -> Certificate:
    """What a certification says of the bank."""
    transport = HttpToolTransport(SystemClock(), egress=EgressPolicy((bank.url.removeprefix("http://"),)))
    keys = (f"{number:043d}" for number in itertools.count())
    try:
        probe = Probe(*tools(bank.url, changes), transport, SystemClock())
        return await Certification(probe, order, SkippingClock(), lambda: next(keys)).run(bank.url)
    finally:
        await transport.aclose()


def named(certificate: Certificate, verdict: Verdict) -> list[str]:
    """The fields with one verdict, each once."""
    return list(dict.fromkeys(finding.field for finding in certificate.of(verdict)))
