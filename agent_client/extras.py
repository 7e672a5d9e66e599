"""What brings a part that the base does not have."""


def installing(extra: str) -> str:
    """The commands that install `extra`, one of pyproject.toml: from an index, and in a clone, where OnceGate is on none."""
    return f"pip install 'oncegate[{extra}]', or in a clone: pip install '.[{extra}]'"
