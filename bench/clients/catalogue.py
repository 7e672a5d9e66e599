"""The clients of the matrix: what each is, and the environment that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One client. `script` is a module of `bench.clients.stacks`, `environment` what is installed for it.

    Attributes:
        large: its environment has hundreds of megabytes.
        bridged: it speaks to `oncegate mcp` over pipes, and there is no such thing without the gateway.
    """

    title: str
    script: str
    environment: str
    bridged: bool = False
    large: bool = False


MCP_2: Final = "mcp-2"
ENVIRONMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    MCP_2: ("mcp==2.3.0",),
    "mcp-1": ("mcp==1.30.0",),
    "openai-agents": ("openai-agents==0.24.0",),
    "langchain": ("langchain-mcp-adapters==0.3.2",),
    "crewai": ("crewai==1.15.30",),
    "pydantic-ai": ("pydantic-ai-slim[mcp]==2.68.0",),
    "langgraph": ("langgraph==1.2.24", "langchain-mcp-adapters==0.3.2"),
    "strands": ("strands-agents==1.62.0",),
    "google-adk": ("google-adk[mcp]==2.13.0",),
    "agent-framework": ("agent-framework-core==1.23.0", "mcp==2.3.0", "tenacity==9.1.4"),
}
"""What is installed for each. The first is what the row is about."""
STACKS: Final = (
    Stack(title="mcp 2.3.0", script="mcp_2", environment=MCP_2),
    Stack(title="mcp 1.30.0", script="mcp_1", environment="mcp-1"),
    Stack(title="mcp 2.3.0, stdio through oncegate mcp", script="stdio_2", environment=MCP_2, bridged=True),
    Stack(title="mcp 1.30.0, stdio through oncegate mcp", script="stdio_1", environment="mcp-1", bridged=True),
    Stack(title="openai-agents 0.24.0, 2 retries", script="openai_agents", environment="openai-agents"),
    Stack(title="langchain-mcp-adapters 0.3.2", script="langchain", environment="langchain"),
    Stack(title="crewai 1.15.30", script="crew", environment="crewai", large=True),
    Stack(title="pydantic-ai-slim 2.68.0, its agent", script="pydantic_ai", environment="pydantic-ai"),
    Stack(title="langgraph 1.2.24, retry policy of 3", script="langgraph", environment="langgraph"),
    Stack(title="strands-agents 1.62.0", script="strands", environment="strands"),
    Stack(title="google-adk 2.13.0", script="google_adk", environment="google-adk"),
    Stack(title="agent-framework-core 1.23.0", script="agent_framework", environment="agent-framework"),
)
