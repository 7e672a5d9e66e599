"""Where a call goes is one of the kinds of backend."""

import pytest
from pydantic import ValidationError

from gateway.manifest.backends import HttpSection, OpenApiSection
from gateway.manifest.policies import StatusMeaning

OPENAPI = {"document": "openapi/shop.json", "operation": "x", "digest": f"sha256:{'0' * 64}", "server": "${API}/v1"}


def test_texts_become_the_meanings_of_statuses() -> None:
    """As manifests write them."""
    section = HttpSection.model_validate({"method": "GET", "url": "${API}", "statuses": {"503": "refused"}})

    assert section.statuses == {"503": StatusMeaning.REFUSED}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("document", "/etc/passwd"),
        ("document", "openapi/../x"),
        ("document", ".hidden"),
        ("server", "ftp://x.example"),
        ("server", "https://x.example?a=b"),
        ("server", "https://${API}"),
        ("server", "${secret:API}"),
        ("server", "https://user@x.example"),
        ("digest", "sha256:00"),
        ("operation", "a\nb"),
    ],
)
def test_a_document_stays_in_its_folder_and_a_server_is_an_operators(field: str, value: str) -> None:
    """What could lead elsewhere has no place in the format."""
    assert OpenApiSection.model_validate(OPENAPI).operation == "x"
    with pytest.raises(ValidationError):
        OpenApiSection.model_validate({**OPENAPI, field: value})
