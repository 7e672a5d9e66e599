"""What history keeps."""

from agent_client.redaction import REDACTED, private_values, scrubbed, without

NAMES = frozenset({"email", "card"})
VALUE = {"id": 1, "email": "ann@x.example", "list": [{"card": {"number": "4111", "cvv": 123}}], "note": "ann@x.example"}


def test_L80_private_members_are_replaced_however_deep_they_stand() -> None:
    """Their names stay, so that a reader sees what is missing."""
    assert without(VALUE, NAMES) == {
        "id": 1, "email": REDACTED, "list": [{"card": REDACTED}], "note": "ann@x.example",
    }  # fmt: skip
    assert without(VALUE, frozenset()) is VALUE


def test_L80_their_values_are_taken_out_of_other_text_too() -> None:
    """Also out of a string of JSON within a string; short ones are left, they would be found everywhere."""
    secrets = private_values(VALUE, NAMES)
    assert secrets == {"ann@x.example", "4111", "123"}

    text = {"raw": '{"email": "ann@x.example"}', "ann@x.example": ["4111-1", "123"]}
    assert scrubbed(text, secrets) == {"raw": '{"email": "[redacted]"}', REDACTED: ["[redacted]-1", "123"]}


def test_L80_a_value_that_json_escapes_is_found_in_its_escaped_form() -> None:
    """As a provider's raw answer holds it."""
    secrets = private_values({"email": 'say "hi"\nbob'}, NAMES)

    assert scrubbed(r'{"email": "say \"hi\"\nbob"}', secrets) == '{"email": "[redacted]"}'


def test_nothing_secret_changes_nothing() -> None:
    """The same value comes back."""
    assert scrubbed(VALUE, ()) is VALUE
