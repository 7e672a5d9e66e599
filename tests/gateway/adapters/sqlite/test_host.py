"""What the machine says about itself."""

import time
from pathlib import Path

import pytest

from gateway.adapters.sqlite.host import NETWORK_FILESYSTEMS, filesystem_type, this_host


def test_this_host_is_named_and_timed() -> None:
    """The kernel's boot id, a clock that counts from the boot, and the wall clock."""
    host = this_host()

    assert len(host.boot_id) == 36
    assert host.boot_id == this_host().boot_id
    assert host.boottime() <= host.boottime() <= time.clock_gettime(time.CLOCK_BOOTTIME)
    assert abs(host.wall() - time.time()) < 5.0
    assert host.host_id is None or host.host_id.strip() == host.host_id != ""


def test_a_filesystem_has_a_type() -> None:
    """The numbers are those of statfs(2): /proc has one that is known, and none of a network."""
    assert filesystem_type(Path("/proc")) == 0x9FA0
    assert 0x9FA0 not in NETWORK_FILESYSTEMS


def test_a_missing_path_has_none(tmp_path: Path) -> None:
    """The error names the path and the reason."""
    with pytest.raises(FileNotFoundError, match="missing"):
        filesystem_type(tmp_path / "missing")
