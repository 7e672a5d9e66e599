"""What a gateway says of itself when it starts."""

import logging

import pytest

from tests.gateway.pipeline.rig import plain
from tests.gateway.site import Site, closed


async def test_a_store_that_forgets_is_told_at_start_with_the_setting_that_allows_it(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """By the tools that it keeps from acting, not one call later."""
    site.write(plain({"name": "pay"}))
    caplog.set_level(logging.INFO, logger="oncegate")
    warning = (
        "every call of act, pay will be refused: memory:// forgets when it ends; "
        "if that is meant, serve with --allow-volatile"
    )
    said = []
    for settings in ({"store": "memory://"}, {"store": "memory://", "allow_volatile": True}, {}):
        caplog.clear()
        await closed(site.assemble(**settings))
        said.append(warning in [it.getMessage() for it in caplog.records if it.levelno == logging.WARNING])

    assert said == [True, False, False]
