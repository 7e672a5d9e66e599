from gateway.stages.monitor.fields import LogField


def test_no_field_can_hold_what_must_not_be_logged() -> None:
    """The allow-list has no name for arguments, results, keys, credentials, addresses or texts."""
    forbidden = ("argument", "result_", "key", "token", "secret", "header", "url", "query", "message", "body", "error")

    assert not [field for field in LogField if any(word in field for word in forbidden)]
