"""Prints the table of kills after the run, also when the rows were proved by several workers."""

from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line a point."""
    lines: list[Any] = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == "crash"
    ]
    if lines:
        terminalreporter.section("SIGKILL at each point of the crash table")
        for point, figures in lines:
            terminalreporter.write_line(f"{point:34} {figures}")
