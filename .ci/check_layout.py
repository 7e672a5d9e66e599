"""The shape of the gateway and of agent_client, checked: file length, function length, a test file for each, no attic names."""

import ast
import sys
from pathlib import Path

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50
ATTIC_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "base",
    "misc",
    "manager",
    "managers",
    "service",
    "services",
}
# A Protocol or a package's front door has no behaviour of its own to test.
WITHOUT_TEST = {"__init__.py", "__main__.py", "ports.py"}
# The same for these: Protocols and values without behaviour.
VALUES = {
    "gateway/clock.py",
    "gateway/pipeline/parts.py",
    "gateway/pipeline/visit.py",
    "agent_client/events.py",
    "agent_client/journal.py",
}

root = Path(__file__).resolve().parent.parent
complaints: list[str] = []

for package in ("gateway", "agent_client"):
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        where = path.relative_to(root)
        if (lines := source.count("\n")) > MAX_FILE_LINES:
            complaints.append(f"{where}: {lines} lines, at most {MAX_FILE_LINES}")
        if path.stem in ATTIC_NAMES or path.parent.name in ATTIC_NAMES:
            complaints.append(f"{where}: the name says nothing about what is in it")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
                first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0]
                length = (node.end_lineno or 0) - first.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    complaints.append(
                        f"{where}:{node.lineno}: {node.name} has {length} lines, at most {MAX_FUNCTION_LINES}"
                    )
        test = root / "tests" / where.parent / f"test_{path.name}"
        if path.name not in WITHOUT_TEST and str(where) not in VALUES and source.strip() and not test.exists():
            complaints.append(f"{where}: no test file {test.relative_to(root)}")

for complaint in complaints:
    print(complaint)
print(f"layout: {len(complaints)} complaint(s)")
sys.exit(1 if complaints else 0)
