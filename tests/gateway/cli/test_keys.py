"""`oncegate keys`."""

import json
import re
from pathlib import Path

import pytest

from gateway.adapters.files.keys import KeyFile
from gateway.cli.exits import Failure
from gateway.cli.keys import parse_attributes
from tests.gateway.cli.run import run

WHO = ("--subject", "agent-1", "--tenant", "acme")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Where the keys are."""
    return str(tmp_path / "keys.json")


def test_a_key_is_printed_once_and_works(file: str) -> None:
    """What `create` prints is a key of the file, with the rights and facts it was made with; the file has not the key."""
    granted = ["--permission", "refunds:write", "--permission", "orders:read", "--attribute", "max_refund_paise=200000"]
    result = run("keys", "create", "--keys", file, *WHO, *granted, "--json")
    printed = json.loads(result.stdout)

    caller = KeyFile(Path(file)).authenticate(printed["key"])
    assert caller is not None
    assert (caller.subject, caller.tenant) == ("agent-1", "acme")
    assert caller.permissions == {"refunds:write", "orders:read"}
    assert caller.attributes == {"max_refund_paise": 200000}
    assert printed["key"] not in Path(file).read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--subject", "", "--tenant", "acme"), "--subject '' is no name"),
        (("--subject", " ", "--tenant", "acme"), "--subject ' ' is no name"),
        (("--subject", "a", "--tenant", ""), "--tenant '' is no name"),
        (("--subject", "a\nb", "--tenant", "acme"), r"--subject 'a\nb' is no name"),
        (("--subject", "a" * 256, "--tenant", "acme"), "1 to 255 printable characters."),
        ((*WHO, "--permission", "orders:*"), "--permission 'orders:*' is none that a manifest can ask for"),
        ((*WHO, "--permission", "*"), "there are no wildcards."),
        ((*WHO, "--permission", ""), "--permission '' is none"),
    ],
)
def test_a_key_that_nobody_holds_or_that_permits_nothing_is_not_made(
    file: str, words: tuple[str, ...], complaint: str
) -> None:
    """One sentence, and no file."""
    result = run("keys", "create", "--keys", file, *words)

    assert (result.exit_code, complaint in result.stderr) == (2, True)
    assert list(Path(file).parent.iterdir()) == []


def test_standard_output_is_the_key_alone(file: str) -> None:
    """So that `ONCEGATE_KEY=$(oncegate keys create …)` works; the advice goes to standard error."""
    result = run("keys", "create", "--keys", file, *WHO)

    assert re.fullmatch(r"og_\w+\n", result.stdout.replace("-", "_"))
    assert "only time" in result.stderr


def test_the_file_may_come_from_the_environment(file: str) -> None:
    """ONCEGATE_KEYS is `--keys`, as for `serve`."""
    run("keys", "create", *WHO, environment={"ONCEGATE_KEYS": file})

    assert Path(file).exists()


def test_keys_are_listed_without_themselves(file: str) -> None:
    """Ids, holders and dates; never a key or its hash."""
    key = run("keys", "create", "--keys", file, *WHO, "--permission", "a").stdout.strip()
    table = run("keys", "list", "--keys", file).stdout
    document = json.loads(run("keys", "list", "--keys", file, "--json").stdout)["keys"]

    assert table.splitlines()[1].split()[1:4] == ["agent-1", "acme", "a"]
    assert [(it["subject"], it["permissions"], it["expires_at"]) for it in document] == [("agent-1", ["a"], None)]
    assert key.split("_", 2)[2] not in table


def test_a_revoked_key_is_none(file: str) -> None:
    """It is gone from the file by its id, once."""
    created = json.loads(run("keys", "create", "--keys", file, *WHO, "--json").stdout)
    first = run("keys", "revoke", created["id"], "--keys", file)
    second = run("keys", "revoke", created["id"], "--keys", file, "--json")

    assert (first.exit_code, second.exit_code) == (0, 1)
    assert json.loads(second.stdout) == {"id": created["id"], "revoked": False}
    assert KeyFile(Path(file)).authenticate(created["key"]) is None


def test_a_key_may_have_an_end(file: str) -> None:
    """`--expires-in` counts from now; a key past it is none."""
    lasting = json.loads(run("keys", "create", "--keys", file, *WHO, "--expires-in", "90d", "--json").stdout)
    ended = json.loads(run("keys", "create", "--keys", file, *WHO, "--expires-in", "0s", "--json").stdout)
    keys = KeyFile(Path(file))

    assert lasting["expires_at"] > lasting["created_at"]
    assert keys.authenticate(lasting["key"]) is not None
    assert keys.authenticate(ended["key"]) is None


@pytest.mark.parametrize("duration", ["90", "soon", "1.5h", "-1d", "1y"])
def test_an_end_has_a_unit(file: str, duration: str) -> None:
    """Anything else is a usage error, and no key is made."""
    result = run("keys", "create", "--keys", file, *WHO, "--expires-in", duration)

    assert result.exit_code == 2
    assert not Path(file).exists()


def test_attributes_are_numbers_truths_or_text() -> None:
    """A number is one; a quoted number is text; what is no JSON scalar stays as it was written."""
    words = ["a=1", "b=1.5", "c=true", 'd="1"', "e=CUST-1", "f=[1]", "g=", "h=null", "i=x=y"]

    assert parse_attributes(words) == {
        "a": 1,
        "b": 1.5,
        "c": True,
        "d": "1",
        "e": "CUST-1",
        "f": "[1]",
        "g": "",
        "h": "null",
        "i": "x=y",
    }


@pytest.mark.parametrize("words", [["a"], ["=1"], ["a=1", "a=2"]])
def test_what_is_no_attribute_is_a_usage_error(words: list[str]) -> None:
    """No sign, no name, or the same name twice."""
    with pytest.raises(Failure) as refused:
        parse_attributes(words)

    assert refused.value.exit_code == 2


def test_a_file_that_cannot_be_used_is_a_sentence(file: str) -> None:
    """Not there, or not ours: code 2, and no traceback."""
    missing = run("keys", "list", "--keys", file)
    Path(file).write_text("{}")
    broken = run("keys", "create", "--keys", file, *WHO)

    assert (missing.exit_code, broken.exit_code) == (2, 2)
    assert missing.stderr.startswith("error: the keys cannot be used")
    assert missing.stderr.endswith(": No such file or directory. `oncegate keys create` makes it.\n")
    nowhere = run("keys", "create", "--keys", f"{file}/keys.json", *WHO)
    assert "makes it" not in nowhere.stderr
    assert broken.stderr.startswith("error: the keys cannot be used")
