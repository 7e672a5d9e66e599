"""Commands as bytes."""

from typing import Any

import hiredis
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.redis.packing import Value, packed

VALUES = st.one_of(st.text(), st.binary(), st.integers(), st.floats(), st.text(min_size=1020, max_size=1030))


@given(st.lists(VALUES, max_size=20).map(tuple))
def test_a_command_is_packed_as_the_library_packs_it(command: tuple[Value, ...]) -> None:
    """Texts of any length and alphabet, bytes, and numbers."""
    by_library: Any = hiredis.pack_command

    assert packed(command) == by_library(command)
