"""Digests cover every part of a row, and where one part ends."""

from dataclasses import replace

import pytest

from agent_client.checkpoints.rows import ORIGIN, Seal
from agent_client.journal import Entry, Headline, Snapshot, Task

ENTRY = Entry(position=1, version=0, kind="event", at_wall=0.5, body="{}")
SNAPSHOT = Snapshot(position=1, version=0, body="{}")
HEAD = Headline(task_type="t", status="RUNNING")
TASK = Task(task_id="a", position=1, version=0, created_wall=0.5, updated_wall=0.5, headline=HEAD)


@pytest.mark.parametrize(
    "other",
    [{"position": 2}, {"version": 1}, {"kind": "other"}, {"at_wall": 0.50000001}, {"body": "{} "}],
)
def test_every_part_of_an_entry_counts(other: dict[str, object]) -> None:
    """One changed field is another digest; so is another task, or another entry before."""
    seal = Seal()
    digest = seal.entry(ORIGIN, "a", ENTRY)

    assert digest != seal.entry(ORIGIN, "a", replace(ENTRY, **other))  # type: ignore[arg-type]
    assert digest != seal.entry(ORIGIN, "b", ENTRY)
    assert digest != seal.entry("before", "a", ENTRY)
    assert digest == seal.entry(ORIGIN, "a", replace(ENTRY))


@pytest.mark.parametrize("other", [{"position": 2}, {"version": 1}, {"body": "[]"}])
def test_every_part_of_a_snapshot_counts(other: dict[str, object]) -> None:
    """A snapshot is bound to its task and to the entry it stands after."""
    seal = Seal()
    digest = seal.snapshot("last", "a", SNAPSHOT)

    assert digest != seal.snapshot("last", "a", replace(SNAPSHOT, **other))  # type: ignore[arg-type]
    assert digest != seal.snapshot("other", "a", SNAPSHOT)
    assert digest != seal.snapshot("last", "b", SNAPSHOT)


@pytest.mark.parametrize(
    "other",
    [
        {"task_type": "x"},
        {"status": "x"},
        {"reason": "x"},
        {"finished": True},
        {"wake_at_wall": 0.0},
        {"pinned_version": 0},
    ],
)
def test_every_part_of_a_headline_counts(other: dict[str, object]) -> None:
    """A list of tasks shows nothing that was not written."""
    seal = Seal()
    changed = replace(TASK, headline=replace(HEAD, **other))  # type: ignore[arg-type]

    assert seal.task("last", TASK) != seal.task("last", changed)
    assert seal.task("last", TASK) != seal.task("other", TASK)


@pytest.mark.parametrize("other", [{"position": 2}, {"version": 1}, {"created_wall": 0.6}, {"updated_wall": 0.6}])
def test_every_part_of_a_task_counts(other: dict[str, object]) -> None:
    """Where its log ends, and when it was written."""
    seal = Seal()

    assert seal.task("last", TASK) != seal.task("last", replace(TASK, **other))  # type: ignore[arg-type]


def test_parts_do_not_run_into_each_other() -> None:
    """Moving a character from one field to the next is another digest."""
    seal = Seal()
    one, other = replace(ENTRY, kind="ab", body="c"), replace(ENTRY, kind="a", body="bc")

    assert seal.entry(ORIGIN, "a", one) != seal.entry(ORIGIN, "a", other)


def test_a_key_makes_digests_that_only_it_can_make() -> None:
    """Another key, and none, make others."""
    digests = {Seal(key).entry(ORIGIN, "a", ENTRY) for key in (None, b"k" * 16, b"l" * 16)}

    assert len(digests) == 3
    with pytest.raises(ValueError, match="16 bytes"):
        Seal(b"short")
