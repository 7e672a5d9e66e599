"""OnceGate: each action once, and never a claim about what nobody knows."""

__version__ = "0.1.0"
