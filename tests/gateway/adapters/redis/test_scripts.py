"""The scripts as files."""

import re

import pytest

from gateway.adapters.redis.scripts import SHARED, clock_text, names, script
from tests.redis_servers import Server


@pytest.mark.parametrize("name", names())
def test_every_script_says_what_it_takes_and_loads(server: Server, name: str) -> None:
    """It begins with a sentence, names every argument it reads, and the server finds nothing wrong with it."""
    made = script(name, clock_text())
    own = made.text[len(script("check", clock_text()).text.rsplit("-- Would", 1)[0]) :]
    told = "\n".join(line for line in made.text.splitlines() if line.startswith("--"))
    read = set(re.findall(r"ARGV\[(\d+)\]", "\n".join(x for x in made.text.splitlines() if not x.startswith("--"))))

    assert own
    assert {number for number in read if f"[{number}]" not in told and f"[{number}…]" not in told} == set()
    assert server.client.script_load(made.text) == made.digest


def test_a_script_of_a_tenant_checks_the_memory_first() -> None:
    """All but those that make a memory, or act on none, have the head that refuses a memory that is another."""
    assert {name for name in names() if "forgotten" not in script(name, clock_text()).text} == SHARED
