"""The examples: what each is run with, and the environment that it needs."""

from dataclasses import dataclass
from typing import Final

from bench.clients.catalogue import ENVIRONMENTS

OPENAI: Final = "openai==3.57.0"
ANTHROPIC: Final = "anthropic==2.14.0"
HTTPX: Final = "httpx==0.28.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One file of `examples/`, which is `refund_{name}.py`.

    Attributes:
        scripted: a module of `bench.examples.models` gives it the framework's own kind of scripted model. Otherwise
            the file is run as it is, and its provider's SDK is pointed at a server that speaks the provider's format.
    """

    name: str
    title: str
    requirements: tuple[str, ...]
    scripted: bool = True

    @property
    def environment(self) -> str:
        """Shared with the client matrix where both need the same."""
        return self.name.replace("_", "-")


EXAMPLES: Final = (
    Example(name="openai_agents", title="openai-agents 0.24.0, over MCP", requirements=ENVIRONMENTS["openai-agents"]),
    Example(name="pydantic_ai", title="pydantic-ai 2.68.0, over MCP", requirements=ENVIRONMENTS["pydantic-ai"]),
    Example(
        name="langgraph",
        title="langgraph 1.2.24 with langchain-mcp-adapters 0.3.2, over MCP",
        requirements=ENVIRONMENTS["langgraph"],
    ),
    Example(name="openai", title="openai 3.57.0, a loop of one's own", requirements=(OPENAI, HTTPX), scripted=False),
    Example(
        name="anthropic",
        title="anthropic 2.14.0, a loop of one's own",
        requirements=(ANTHROPIC, HTTPX),
        scripted=False,
    ),
)
