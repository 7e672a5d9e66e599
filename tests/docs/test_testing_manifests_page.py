"""The page about testing manifests: its tests, run as a reader would."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    """Those of a page."""
    return re.findall(rf"```{kind}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_tests_of_the_page_pass_with_the_manifests_of_the_other(tmp_path: Path) -> None:
    """In a folder that has nothing else, without a plugin of pytest."""
    (tmp_path / "tool_manifests").mkdir()
    for number, manifest in enumerate(blocks("manifest.md", "yaml")):
        (tmp_path / "tool_manifests" / f"{number}.yaml").write_text(manifest)
    (program,) = blocks("testing-manifests.md", "python")
    (tmp_path / "test_manifests.py").write_text(program)

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:xdist", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert f"{program.count('async def test_')} passed" in done.stdout
