"""The model and the policies agree."""

from gateway.manifest import policies, sections
from gateway.manifest.backends import Section
from gateway.manifest.model import ManifestSource
from tests.gateway.manifest.sample import KEYED, READ, changed


def test_the_defaults_of_the_format_are_those_of_the_policies() -> None:
    """Written with units for editors, and equal in seconds and bytes."""
    source = ManifestSource.model_validate(READ)

    assert sections.timeouts(source) == policies.Timeouts()
    assert sections.retry(source) == policies.RetryPolicy()
    assert sections.breaker(source, "o") == policies.BreakerPolicy(scope="o")
    assert sections.limits(source) == policies.ToolLimits()
    assert sections.result_view(source) == policies.ResultView()
    assert sections.identity(source) == policies.Identity(operation="get_status")


def test_an_identity_with_fields_only_has_the_defaults_for_the_rest() -> None:
    """Naming the fields says nothing about the other settings."""
    identity = sections.identity(ManifestSource.model_validate(changed(KEYED)))

    assert identity == policies.Identity(operation="act", fields=("order",))


def test_every_field_of_the_format_is_described() -> None:
    """Editors show the description; a field without one is a riddle."""
    bare = [
        name for section in Section.__subclasses__() for name, it in section.model_fields.items() if not it.description
    ]

    assert bare == []
