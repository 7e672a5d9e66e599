"""Gateways of the attacks."""

from tests.gateway.pipeline.conftest import rig

__all__ = ["rig"]
