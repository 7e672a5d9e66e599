"""The page about manifests says what the loader does."""

import re
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.building import Operator
from gateway.manifest.catalog import load
from gateway.manifest.complaint import RULES, Severity
from gateway.manifest.model import ManifestSource
from gateway.manifest.normalisers import NORMALISERS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "manifest.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_.]+)` \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def fields(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Path -> default of every field below a section."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        options = [field.annotation, *get_args(field.annotation)]
        section = next((it for it in options if isinstance(it, type) and issubclass(it, BaseModel)), None)
        found |= {path: field.default} if section is None else fields(section, f"{path}.")
    return found


def shown(default: Any) -> str:
    """A default as the page writes it."""
    if default is PydanticUndefined:
        return "required"
    if default is None or default in ([], {}, ()):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def test_every_manifest_on_the_page_loads() -> None:
    """Together, as one directory would, and without a warning."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    operator = Operator(
        engine=CelEngine(), environment={"PAYMENTS_URL": "https://pay.example"}, secrets={"PAYMENTS_TOKEN": "x"}
    )
    result = load([(f"block {index}", block) for index, block in enumerate(blocks)], operator)

    assert len(blocks) == 3
    assert [it for it in result.complaints if it.severity is not Severity.HINT] == []
    assert result.catalogue is not None


def test_every_field_is_on_the_page_with_its_default() -> None:
    """No field is undocumented, no documented field is gone, and no default is another."""
    reference = PAGE.partition("## Every field")[2].partition("## Arguments")[0]
    rows = {path: default.strip() for path, default in ROW.findall(reference)}

    assert rows == {path: shown(default) for path, default in fields(ManifestSource).items()}


def test_every_rule_and_normaliser_is_on_the_page() -> None:
    """A complaint's rule can be looked up."""
    for rule, sentence in RULES.items():
        assert f"| `{rule}` | {sentence} |" in PAGE
    assert all(f"`{name}`" in PAGE for name in NORMALISERS)
