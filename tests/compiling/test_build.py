"""A small tree, really compiled, behaves as the source does."""

from pathlib import Path

import pytest

from compiling.__main__ import as_compiled, copy, is_done, mark_done
from compiling.build import grouped
from compiling.rings import RingError
from compiling.settled import SettledError
from tests.compiling.small_tree import ROOT, SOURCE, plant


def test_what_would_be_compiled_wrongly_is_not_written() -> None:
    """A handler waits behind its `try`; a `finally` that asks for None has no form that is right."""
    assert "caught_" in as_compiled(SOURCE, "small.py")
    asks = "def end():\n    it = None\n    try:\n        it = 1\n    finally:\n        print(it is None)\n"
    with pytest.raises(SettledError, match=r"small\.py:6"):
        as_compiled(asks, "small.py")
    with pytest.raises(RingError, match=r"small\.py:2"):
        as_compiled("def walk():\n    def down():\n        down()\n", "small.py")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small one, to be copied."""
    plant(tmp_path / "tree")
    return tmp_path / "tree"


def test_the_copy_is_the_tree_with_its_values_written_out(tree: Path, tmp_path: Path) -> None:
    """And a file that is as it was keeps its time, so that only what changed is compiled anew."""
    (tree / ".git").mkdir()
    (tree / ".git/HEAD").touch()
    modules = copy(tmp_path / "copy", tree)
    small = tmp_path / "copy/gateway/contract/small.py"
    assert "gateway/contract/small.py" in modules
    assert "def __copy__(self)" in small.read_text(encoding="utf-8")
    assert (tmp_path / "copy/README.md").read_bytes() == (ROOT / "README.md").read_bytes()
    assert not (tmp_path / "copy/.git").exists()
    small.write_text("another", encoding="utf-8")
    before = (tmp_path / "copy/README.md").stat().st_mtime_ns
    copy(tmp_path / "copy", tree)
    assert (tmp_path / "copy/README.md").stat().st_mtime_ns == before
    assert "def __copy__(self)" in small.read_text(encoding="utf-8")


def test_a_module_is_compiled_no_longer(tree: Path, tmp_path: Path) -> None:
    """What was made of it goes, for Python would take it before the source; what is still to be compiled stays."""
    copy(tmp_path, tree)
    kept = tmp_path / "gateway/contract/small.cpython-311-x86_64-linux-gnu.so"
    gone = tmp_path / "gateway/demo/cpython.cpython-311-x86_64-linux-gnu.so"
    kept.touch()
    gone.touch()
    copy(tmp_path, tree)
    assert (kept.exists(), gone.exists()) == (True, False)


def test_what_the_tree_has_no_longer_leaves_the_copy(tree: Path, tmp_path: Path) -> None:
    """A module and data, for a wheel would hold them; what is compiled is to be packed anew."""
    copy(tmp_path / "copy", tree)
    (tmp_path / "copy/build").mkdir()
    mark_done(tmp_path / "copy", [])
    for name in ("gateway/contract/asked.py", "gateway/adapters/redis/lua/find.lua"):
        (tree / name).unlink()
        assert (tmp_path / "copy" / name).exists()
    copy(tmp_path / "copy", tree)
    assert not (tmp_path / "copy/gateway/contract/asked.py").exists()
    assert not (tmp_path / "copy/gateway/adapters/redis/lua/find.lua").exists()
    assert not is_done(tmp_path / "copy", [])


def test_what_is_compiled_as_it_stands_is_left_alone(tree: Path, tmp_path: Path) -> None:
    """Until a file differs, another module is to be compiled, or what was made of one is not there."""
    into = tmp_path / "copy"
    copy(into, tree)
    (into / "build").mkdir()
    modules = ["gateway/contract/small.py"]
    made = into / "gateway/contract/small.cpython-311-x86_64-linux-gnu.so"
    made.touch()
    assert not is_done(into, modules)
    mark_done(into, modules)
    copy(into, tree)
    assert is_done(into, modules)
    assert not is_done(into, [*modules, "gateway/contract/asked.py"])
    (into / "README.md").write_text("another", encoding="utf-8")
    copy(into, tree)
    assert not is_done(into, modules)
    mark_done(into, modules)
    made.unlink()
    assert not is_done(into, modules)


def test_generated_files_are_compiled_a_few_at_once(tmp_path: Path) -> None:
    """Each in one group, the same in each build; a group that is as it was keeps its time, so that nothing is linked anew."""
    generated = [tmp_path / f"__native_{number}.c" for number in range(100)]
    for path in generated:
        path.write_text("int x;", encoding="utf-8")
    groups = [Path(each) for each in grouped([str(path) for path in generated])]
    included = [line for group in groups for line in group.read_text(encoding="utf-8").splitlines()]
    assert sorted(included) == sorted(f'#include "{path.name}"' for path in generated)
    assert 1 < len(groups) < len(generated) / 4
    before = {group: (group.read_bytes(), group.stat().st_mtime_ns) for group in groups}
    generated[7].write_text("int y;" * 9, encoding="utf-8")
    assert set(grouped([str(path) for path in generated])) == set(map(str, groups))
    assert {group: (group.read_bytes(), group.stat().st_mtime_ns) for group in groups} == before
