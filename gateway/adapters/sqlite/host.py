"""What the machine says about itself: its clocks, its boot, its name, and on what a file lives."""

import ctypes
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_MACHINE_ID: Final = Path("/etc/machine-id")

NETWORK_FILESYSTEMS: Final = {
    0x00006969: "nfs",
    0x0000517B: "smb",
    0xFF534D42: "cifs",
    0xFE534D42: "smb2",
    0x01021997: "9p",
    0x00C36400: "ceph",
    0x0BD00BD0: "lustre",
    0x01161970: "gfs2",
    0x47504653: "gpfs",
    0x5346414F: "afs",
    0x6B414653: "afs",
    0x73757245: "coda",
    0x7461636F: "ocfs2",
    # A FUSE mount may be anything, and nothing tells sshfs or s3fs from a local one.
    0x65735546: "fuse",
}
"""`f_type` of statfs(2) for file systems whose locks or shared memory SQLite cannot rely on between processes."""

# statx(2): struct statx is 256 bytes long; its mask comes first, and the time of birth stands at byte 80.
_STATX_BYTES: Final = 256
_STATX_BTIME: Final = 0x800
_BTIME_AT: Final = 80
_AT_FDCWD: Final = -100
# struct statfs begins with f_type, a long on every 64-bit Linux, and is 120 bytes long.
_STATFS_BYTES: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One boot of one machine.

    Attributes:
        boot_id: the kernel's, new with every boot and the same in all containers of a machine.
        host_id: `/etc/machine-id`, or None where there is none.
        boottime: seconds since the boot, suspension included; equal for all processes.
        wall: seconds since 1970 UTC.
        filesystem_type: `f_type` of the file system that holds a path.
    """

    boot_id: str
    host_id: str | None
    boottime: Callable[[], float]
    wall: Callable[[], float]
    filesystem_type: Callable[[Path], int]


def this_host() -> Host:
    """The machine this process runs on (Linux)."""
    return Host(
        boot_id=_BOOT_ID.read_text().strip(),
        host_id=_read_machine_id(),
        boottime=partial(time.clock_gettime, time.CLOCK_BOOTTIME),
        wall=time.time,
        filesystem_type=filesystem_type,
    )


def filesystem_type(path: Path) -> int:
    """`f_type` of the file system that holds `path`, as an unsigned number.

    Raises:
        OSError: the path cannot be asked about.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    if libc.statfs(os.fsencode(path), buffer) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(path))
    return ctypes.c_long.from_buffer(buffer).value & 0xFFFFFFFF


def file_identity(path: Path) -> str:
    """Which file this is among all that ever were on its file system: its inode, and when that was born.

    A number of an inode is given again; the birth tells the two apart, where the file system knows it.

    Raises:
        OSError: the path cannot be asked about.
    """
    inode = path.stat().st_ino
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    if statx is None or statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, buffer) != 0:
        return f"{inode}"
    (mask,) = struct.unpack_from("=I", buffer)
    if not mask & _STATX_BTIME:
        return f"{inode}"
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    return f"{inode}@{seconds}.{nanoseconds:09d}"


def _read_machine_id() -> str | None:
    try:
        return _MACHINE_ID.read_text().strip() or None
    except OSError:
        return None
