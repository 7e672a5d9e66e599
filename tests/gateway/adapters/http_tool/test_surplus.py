"""Bytes that nobody asked for."""

import socket

import pytest

from gateway.adapters.http_tool.surplus import has_unread, tell


def test_bytes_are_seen_and_stay() -> None:
    """Nothing yet, something, only the end, nothing at all any more."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    assert not has_unread(ours)
    theirs.send(b"x")
    assert has_unread(ours)
    assert ours.recv(2) == b"x"
    theirs.close()
    assert not has_unread(ours)
    ours.close()
    assert not has_unread(ours)


def test_the_log_names_the_peer_and_what_helps(caplog: pytest.LogCaptureFixture) -> None:
    """One line, a warning."""
    tell("https://pay.example")
    assert [it.levelname for it in caplog.records] == ["WARNING"]
    assert caplog.text.count("https://pay.example sent bytes") == caplog.text.count("fresh_connection: true") == 1
