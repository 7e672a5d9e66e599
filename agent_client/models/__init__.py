"""Models over HTTP: `openai_chat` and `anthropic_messages`. Any function of a `ModelRequest` is a model, too."""

from agent_client.models.anthropic_messages import anthropic_messages
from agent_client.models.exchange import ModelBounds
from agent_client.models.openai_chat import openai_chat

__all__ = ["ModelBounds", "anthropic_messages", "openai_chat"]
