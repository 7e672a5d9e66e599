import pytest

from gateway.fronts.mcp.versions import SUPPORTED, Version, negotiated


def test_four_revisions_newest_first() -> None:
    """What clients are told."""
    assert SUPPORTED == ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")


def test_one_of_them_has_no_handshake() -> None:
    """Only the revision of 2026 carries its version on each request."""
    assert [version for version in SUPPORTED if version.is_modern] == ["2026-07-28"]


@pytest.mark.parametrize("asked", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_a_known_revision_is_agreed_to(asked: str) -> None:
    """`initialize` echoes it."""
    assert negotiated(asked) == asked


@pytest.mark.parametrize("asked", ["2024-11-05", "2026-07-28", "tomorrow", None, 7])
def test_for_any_other_the_newest_with_a_handshake_is_offered(asked: object) -> None:
    """Also for the one that has no handshake: who sends `initialize` means another."""
    assert negotiated(asked) is Version.V2025_11_25
