"""A directory to assemble a gateway in."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.app import Gateway, assemble
from gateway.settings import Settings

SEAL = "k1:" + "q8Zr" * 10 + "uT0="


@dataclass
class Site:
    """A directory to run in, and the environment."""

    folder: Path
    environ: dict[str, str]

    def write(self, *manifests: Mapping[str, Any]) -> None:
        """One file a manifest."""
        for manifest in manifests:
            (self.folder / "manifests" / f"{manifest['name']}.yaml").write_text(json.dumps(manifest), encoding="utf-8")

    def settings(self, **settings: Any) -> Settings:
        """Of this directory."""
        return Settings.model_validate(
            {
                "manifests": self.folder / "manifests",
                "store": f"sqlite:///{self.folder / 'records.db'}",
                "keys": self.folder / "keys.json",
                "manifest_env": ["API"],
                **settings,
            }
        )

    def assemble(self, **settings: Any) -> Gateway:
        """A gateway of it."""
        return assemble(self.settings(**settings), self.environ)


async def closed(gateway: Gateway) -> None:
    """Let go of everything."""
    await gateway.core.stop()
    gateway.telemetry.close()
