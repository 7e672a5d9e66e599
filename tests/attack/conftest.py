"""Gateways of the attacks."""

from tests.gateway.pipeline.conftest import _switch_interval, rig

__all__ = ["_switch_interval", "rig"]
