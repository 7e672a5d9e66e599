"""An issuer of tokens on a real socket with TLS, whose keys, metadata and manners a test decides."""

import asyncio
import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jwt
import trustme
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from gateway.adapters.system.clock import SystemClock

AUDIENCE: Final = "https://oncegate.example"
NOW: Final = 1_790_000_000
"""What `ManualClock().wall()` says at first."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and how it is published."""

    private: Any
    jwk: dict[str, Any]

    @property
    def kid(self) -> str:
        """Its name."""
        return str(self.jwk["kid"])


def _published(public: Any, algorithm: str) -> dict[str, Any]:
    made: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True)
    return made


def rsa_key(kid: str, bits: int = 2048, **members: Any) -> SigningKey:
    """An RSA key."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return SigningKey(private, {**_published(private.public_key(), "RS256"), "kid": kid, "use": "sig", **members})


def ec_key(kid: str, **members: Any) -> SigningKey:
    """A key on P-256: quick to make."""
    private = ec.generate_private_key(ec.SECP256R1())
    return SigningKey(private, {**_published(private.public_key(), "ES256"), "kid": kid, **members})


def ed_key(kid: str, **members: Any) -> SigningKey:
    """An Ed25519 key."""
    private = ed25519.Ed25519PrivateKey.generate()
    return SigningKey(private, {**_published(private.public_key(), "EdDSA"), "kid": kid, **members})


def part(document: Any) -> str:
    """One part of a token."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


Manner = Callable[[asyncio.StreamWriter], Any]


@dataclass
class LocalIssuer:
    """What it publishes; `manner` takes the place of an ordinary answer."""

    url: str
    ca_file: Path
    keys: list[SigningKey] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    manner: Manner | None = None
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    hung: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None

    @property
    def key_questions(self) -> int:
        """How often its keys were asked for."""
        return self.asked.count("/keys")

    def token(
        self,
        key: SigningKey | None = None,
        *,
        algorithm: str = "ES256",
        header: Mapping[str, Any] | None = None,
        now: float = NOW,
        **claims: Any,
    ) -> str:
        """A genuine token, but for what the test changes; a claim that is None is left out."""
        key = key or self.keys[0]
        chosen: dict[str, Any] = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "agent-7",
            "iat": now,
            "exp": now + 300,
            **claims,
        }
        said = {name: value for name, value in chosen.items() if value is not None}
        return jwt.encode(said, key.private, algorithm=algorithm, headers={"kid": key.kid, **(header or {})})

    async def hang(self, _writer: asyncio.StreamWriter) -> None:
        """A manner: accepts the question and says nothing."""
        self.hung.set()
        await self.let_go.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ", 2)[1]
            self.asked.append(path)
            self.heads.append(head)
            if self.manner is not None:
                await self.manner(writer)
            else:
                writer.write(self._answer(path))
            await writer.drain()
        writer.close()

    def _answer(self, path: str) -> bytes:
        documents: dict[str, Any] = {
            "/keys": {"keys": [key.jwk for key in self.keys]},
            "/.well-known/openid-configuration": self.metadata,
        }
        if path not in documents:
            return answer(b"{}", 404)
        return answer(json.dumps(documents[path]).encode())

    async def listen(self, context: ssl.SSLContext, port: int = 0) -> int:
        """Start to answer; the port."""
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=context)
        return int(self.server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Be down."""
        self.let_go.set()
        if self.server is not None:
            self.server.close()
            await self.server.wait_closed()
            self.server = None


def answer(body: bytes, status: int = 200, *headers: str) -> bytes:
    """One whole answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextlib.asynccontextmanager
async def issuing(folder: Path) -> AsyncIterator[LocalIssuer]:
    """A running issuer with one key, `k1`."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    issuer = LocalIssuer("", ca_file, [ec_key("k1")])
    port = await issuer.listen(context)
    issuer.url = f"https://localhost:{port}"
    issuer.metadata = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"}
    try:
        yield issuer
    finally:
        await issuer.stop()


def entry(issuer: LocalIssuer, **changes: Any) -> dict[str, Any]:
    """How an operator writes it down; a field that is None is left out."""
    chosen = {
        "issuer": issuer.url,
        "audience": AUDIENCE,
        "algorithms": ["ES256"],
        "tenants": ["acme"],
        "ca_file": str(issuer.ca_file),
        **changes,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def write(path: Path, *entries: Mapping[str, Any]) -> Path:
    """A file of issuers."""
    path.write_text(json.dumps({"issuers": entries}), encoding="utf-8")
    return path


def real_now() -> float:
    """For tokens that the real clock reads."""
    return float(int(SystemClock().wall()))
