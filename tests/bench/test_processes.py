"""Processes are counted with all their threads and children."""

import os
import subprocess
import sys
import threading
import time

from bench.processes import cpu_s, rss_mb, tree

BURN = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\nprint('done', flush=True)\ninput()"


def test_a_child_belongs_to_the_tree_and_to_its_cpu() -> None:
    """A server's workers are its cost."""
    before = cpu_s(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "done\n"
        assert child.pid in tree(os.getpid())
        assert cpu_s(child.pid) >= 0.19
        assert round(cpu_s(os.getpid()) - before, 3) >= 0.19
    finally:
        child.communicate("\n", timeout=10)


def test_threads_are_counted() -> None:
    """The committer and the span exporter work in threads of their own."""

    def burn() -> None:
        end = time.thread_time() + 0.15
        while time.thread_time() < end:
            pass

    before = cpu_s(os.getpid())
    thread = threading.Thread(target=burn)
    thread.start()
    thread.join()
    # Ticks are hundredths: the difference of two sums of them is one but for the last bits.
    assert round(cpu_s(os.getpid()) - before, 3) >= 0.14


def test_memory_is_in_megabytes() -> None:
    """A test process is larger than ten and smaller than ten thousand."""
    assert 10 < rss_mb(os.getpid()) < 10_000
