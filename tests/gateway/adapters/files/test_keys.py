"""API keys: what the file keeps, who gets in, and who does not."""

import json
import logging
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.adapters.files.keys import KeyFile, KeyFileError, create_key, read_keys, revoke_key
from gateway.adapters.logs.json_lines import JsonFormatter
from gateway.contract.call import Caller


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the keys will be."""
    return tmp_path / "keys.json"


def make(path: Path, *, subject: str = "agent", expires_wall: float | None = None) -> str:
    """A key with everything set; its text."""
    text, _ = create_key(
        path,
        subject=subject,
        tenant="acme",
        permissions=("orders:refund", "orders:read"),
        attributes={"max_refund_paise": 50_000},
        expires_wall=expires_wall,
    )
    return text


def test_a_key_names_its_caller(path: Path) -> None:
    """Whoever presents the key is the subject, tenant, permissions and attributes that it was made with."""
    text = make(path)

    caller = KeyFile(path).authenticate(text)

    assert re.fullmatch(r"og_[a-z0-9]{12}_[A-Za-z0-9_-]{43}", text)
    assert caller == Caller(
        subject="agent",
        tenant="acme",
        permissions=frozenset({"orders:refund", "orders:read"}),
        attributes={"max_refund_paise": 50_000},
    )


def test_no_two_keys_are_alike(path: Path) -> None:
    """Ids and secrets are random."""
    texts = {make(path) for _ in range(20)}

    assert len({text.split("_")[1] for text in texts}) == 20
    assert len({text.split("_", 2)[2] for text in texts}) == 20


def test_the_file_does_not_hold_the_key(path: Path) -> None:
    """Only a hash of the secret is kept, in a file that nobody else may read."""
    text = make(path)

    assert text.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {p.name for p in path.parent.iterdir()} == {"keys.json", ".keys.json.lock"}
    assert stat.S_IMODE((path.parent / ".keys.json.lock").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"),
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: text.replace("og_", "OG_"),
        lambda text: "og_aaaaaaaaaaaa_" + text.split("_", 2)[2],
        lambda text: text.split("_", 2)[2],
        lambda _: "",
        lambda _: "\ud800",
    ],
)
def test_anything_but_the_key_is_nobody(path: Path, spoil: Callable[[str], str]) -> None:
    """A wrong secret, a cut one, another id, no key at all."""
    text = make(path)
    keys = KeyFile(path)

    assert keys.authenticate(spoil(text)) is None
    assert keys.authenticate(text) is not None


def test_a_secret_fits_its_own_id_only(path: Path) -> None:
    """Another key's secret under this key's id does not open."""
    one, other = make(path), make(path)

    mixed = f"og_{one.split('_')[1]}_{other.split('_', 2)[2]}"

    assert KeyFile(path).authenticate(mixed) is None


def test_a_key_expires(path: Path) -> None:
    """From `expires_wall` on the key is nobody's."""
    text = make(path, expires_wall=5_000.0)

    assert KeyFile(path, wall=lambda: 4_999.9).authenticate(text) is not None
    assert KeyFile(path, wall=lambda: 5_000.0).authenticate(text) is None


def test_a_revoked_key_is_nobody(path: Path) -> None:
    """Revoking takes one key and leaves the others; a second time there is nothing to revoke."""
    one, other = make(path), make(path)
    key_id = one.split("_")[1]

    assert (revoke_key(path, key_id), revoke_key(path, key_id)) == (True, False)
    assert KeyFile(path).authenticate(one) is None
    assert KeyFile(path).authenticate(other) is not None


def test_keys_are_listed_oldest_first(path: Path) -> None:
    """The list tells whose each key is and when it ends; its repr shows no digest."""
    texts = [make(path, subject="old", expires_wall=7.0), make(path, subject="young")]

    listed = read_keys(path)

    assert [(k.key_id, k.subject, k.expires_wall) for k in listed] == [
        (texts[0].split("_")[1], "old", 7.0),
        (texts[1].split("_")[1], "young", None),
    ]
    assert listed[0].created_wall <= listed[1].created_wall
    assert listed[0].digest.hex() not in repr(listed)
    assert "digest" not in repr(listed)


def test_a_change_is_seen_on_reload(path: Path) -> None:
    """A key made while the gateway runs opens after `reload`, and its revocation closes."""
    make(path)
    serving = KeyFile(path)
    text = make(path)

    assert serving.authenticate(text) is None
    assert serving.reload()
    assert serving.authenticate(text) is not None
    revoke_key(path, text.split("_")[1])
    assert serving.reload()
    assert serving.authenticate(text) is None
    assert repr(serving) == f"<KeyFile {path} 1 keys>"


def test_a_file_that_did_not_change_is_not_read_again(path: Path) -> None:
    """One `stat` tells: a file of the same inode, size and time is taken for the same."""
    text = make(path)
    serving = KeyFile(path)
    found = path.stat()
    with path.open("r+b") as file:
        file.write(b"x")
    _set_time(path, found.st_mtime_ns)

    assert serving.reload()
    assert serving.authenticate(text) is not None


def test_a_replaced_file_is_read_again(path: Path, tmp_path: Path) -> None:
    """Another file of the same size and time is another file."""
    text = make(path)
    serving = KeyFile(path)
    found = path.stat()
    other = tmp_path / "other.json"
    other.write_text(path.read_text().replace('"agent"', '"tnega"'))
    _set_time(other, found.st_mtime_ns)
    other.replace(path)

    assert serving.reload()
    caller = serving.authenticate(text)
    assert caller is not None
    assert caller.subject == "tnega"


def test_a_removed_file_has_no_keys(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """When the file goes so do its keys, and the log says what to do; when it comes back, so do they."""
    text = make(path)
    serving = KeyFile(path)
    aside = path.rename(path.with_name("aside"))

    with caplog.at_level(logging.WARNING):
        assert serving.reload()
    assert serving.authenticate(text) is None
    assert f"no file of API keys at {path} yet" in caplog.text
    assert "oncegate keys create" in caplog.text
    assert str(path) in JsonFormatter().format(caplog.records[-1])
    aside.rename(path)
    assert serving.reload()
    assert serving.authenticate(text) is not None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not a file of API keys"),
        ("[]", "not a file of API keys"),
        ('{"version": 2, "keys": []}', "another version"),
        ('{"version": 1}', "not a file of API keys"),
        ('{"version": 1, "keys": [{"id": "x"}]}', "not a file of API keys"),
        ('{"version": 1, "keys": ["x"]}', "not a file of API keys"),
    ],
)
def test_a_broken_file_is_refused_and_the_known_keys_stay(
    path: Path, caplog: pytest.LogCaptureFixture, content: str, why: str
) -> None:
    """A file that cannot be used is not taken and not changed; keys known before go on working."""
    text = make(path)
    serving = KeyFile(path)
    path.write_text(content)

    assert serving.reload() is False
    assert why in caplog.text
    assert serving.authenticate(text) is not None
    with pytest.raises(KeyFileError, match=why):
        make(path)
    with pytest.raises(KeyFileError, match=why):
        KeyFile(path)
    assert path.read_text() == content


def test_a_short_digest_is_refused(path: Path) -> None:
    """A digest of another length is no SHA-256 and could never be met."""
    make(path)
    document = json.loads(path.read_text())
    document["keys"][0]["sha256"] = "00"
    path.write_text(json.dumps(document))

    with pytest.raises(KeyFileError, match="not a file of API keys"):
        read_keys(path)


def test_a_file_that_anybody_may_write_is_refused(path: Path) -> None:
    """Who can write the file can add a key."""
    make(path)
    path.chmod(0o606)

    with pytest.raises(KeyFileError, match="anybody"):
        read_keys(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A path that cannot be read raises what the system says."""
    with pytest.raises(IsADirectoryError):
        read_keys(tmp_path)
    with pytest.raises(FileNotFoundError):
        make(tmp_path / "missing" / "keys.json")


def test_a_failed_change_leaves_the_file(path: Path) -> None:
    """A key that cannot be written as JSON leaves the file as it was, and nothing beside it."""
    make(path)
    content = path.read_text()

    with pytest.raises(TypeError):
        create_key(path, subject="s", tenant="t", permissions=(), attributes={"no": object()})

    assert path.read_text() == content
    assert {p.name for p in path.parent.iterdir()} == {"keys.json", ".keys.json.lock"}


def test_processes_that_create_together_lose_no_key(path: Path) -> None:
    """The lock makes two writers take turns."""
    program = (
        "import sys; from pathlib import Path; from gateway.adapters.files.keys import create_key\n"
        "for _ in range(25): create_key(Path(sys.argv[1]), subject='s', tenant='t', permissions=(), attributes={})"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(2)]

    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert len(read_keys(path)) == 50


def _set_time(path: Path, mtime_ns: int) -> None:
    os.utime(path, ns=(mtime_ns, mtime_ns))


def test_what_a_subject_may_today_is_what_its_keys_stand_for(path: Path) -> None:
    """All of them that are neither revoked nor over; of another tenant's subject of that name nothing."""
    make(path, subject="lead", expires_wall=2_000.0)
    create_key(path, subject="lead", tenant="acme", permissions=("refunds:approve",), attributes={})
    create_key(path, subject="lead", tenant="other", permissions=("everything",), attributes={})
    wall = 1_000.0
    keys = KeyFile(path, wall=lambda: wall)

    assert [sorted(it.permissions) for it in keys.today("acme", "lead") or ()] == [
        ["orders:read", "orders:refund"],
        ["refunds:approve"],
    ]
    wall = 2_000.0
    [left] = keys.today("acme", "lead") or ()
    assert left.key_id is not None
    revoke_key(path, left.key_id)
    assert keys.reload()
    assert keys.today("acme", "lead") == ()
    assert keys.today("acme", "nobody") == ()


def test_without_a_file_nobody_can_say_what_a_subject_may(path: Path) -> None:
    """A gateway that takes tokens only knows of no keys; once there was a file, no key is none."""
    keys = KeyFile(path)
    assert keys.today("acme", "lead") is None
    make(path)
    assert keys.reload()
    assert keys.today("acme", "lead") == ()


def test_the_log_says_why_a_file_was_refused(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The sentence comes through the log's own filter, and nothing of the file does."""
    make(path)
    serving = KeyFile(path)
    path.write_text('{"version": 1, "keys": "planted"}')
    serving.reload()
    path.unlink()
    path.mkdir()
    serving.reload()
    lines = [json.loads(JsonFormatter().format(record))["message"] for record in caplog.records]

    assert lines == [
        f"API keys not reloaded, the known ones stay: {path} is not a file of API keys.",
        f"API keys not reloaded, the known ones stay: {path}: Is a directory.",
    ]


def test_what_is_refused_leaves_no_lock(path: Path) -> None:
    """Of a file that cannot be used only the file is there, and of none nothing."""
    assert revoke_key(path, "nobody") is False
    assert list(path.parent.iterdir()) == []
    path.write_text("{")
    with pytest.raises(KeyFileError):
        make(path)

    assert list(path.parent.iterdir()) == [path]
