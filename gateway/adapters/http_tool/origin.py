"""Where requests go: scheme, host and port, parsed once and kept."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault

_ORIGIN: Final = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?", re.ASCII)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """A parsed origin.

    Attributes:
        host: lower case, without brackets: what is resolved, checked and, with TLS, verified.
        authority: what the Host header says.
    """

    tls: bool
    host: str
    port: int
    authority: str

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"


@lru_cache(maxsize=1024)
def parse_origin(text: str) -> Origin:
    """`https://pay.example:443` in parts.

    Raises:
        Failed: BAD_REQUEST, when it is anything but scheme, host and port.
    """
    match = _ORIGIN.fullmatch(text)
    if match is None:
        raise Failed(Fault.BAD_REQUEST, "the origin is not http(s)://host:port")
    scheme, host, digits = match.groups()
    port = int(digits) if digits else _DEFAULT_PORTS[scheme]
    if not 0 < port < 65_536:
        raise Failed(Fault.BAD_REQUEST, "the origin's port is out of range")
    host = host.lower()
    authority = host if port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"
    return Origin(scheme == "https", host.strip("[]"), port, authority)
