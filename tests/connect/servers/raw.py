"""Servers over bare sockets, which say anything at all; certificates; a proxy with tunnels."""

import asyncio
import contextlib
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Script = Callable[[Reader, Writer], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


async def read_head(reader: Reader) -> str:
    """The head of a request; its body, where it says how long it is, is read and dropped."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            await reader.readexactly(int(line.partition(":")[2]))
    return head


def saying(*answers: bytes, is_kept: bool = True) -> Script:
    """Answers one request after the other, and then ends the connection or keeps it."""

    async def script(reader: Reader, writer: Writer) -> None:
        for one in answers:
            await read_head(reader)
            writer.write(one)
            await writer.drain()
        if is_kept:
            await reader.read()

    return script


@dataclass
class Raw:
    """The server's address, and the number of requests."""

    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def secure_url(self) -> str:
        return f"https://localhost:{self.port}/mcp"


@contextlib.asynccontextmanager
async def serve_raw(script: Script, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Raw]:
    """Plays `script` to whoever connects, until left."""
    raw = Raw()
    tasks: set[asyncio.Task[None]] = set()

    async def play(reader: Reader, writer: Writer) -> None:
        raw.connections += 1
        tasks.add(asyncio.current_task())  # type: ignore[arg-type] # within a task
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await script(reader, writer)
        writer.transport.abort()

    server = await asyncio.start_server(play, "127.0.0.1", 0, ssl=tls)
    raw.port = server.sockets[0].getsockname()[1]
    try:
        yield raw
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def serve_proxy(
    answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n",
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Raw]:
    """A proxy that makes tunnels to wherever it is asked to; `heads` are what it was asked."""

    async def script(reader: Reader, writer: Writer) -> None:
        head = await read_head(reader)
        raw.heads.append(head)
        host, _, port = head.split()[1].rpartition(":")
        there, away = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.write(answer)
        try:
            await asyncio.gather(_pass_on(reader, away), _pass_on(there, writer))
        finally:
            away.transport.abort()

    async with serve_raw(script, tls) as raw:
        yield raw


async def _pass_on(reader: Reader, writer: Writer) -> None:
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    writer.transport.abort()


@dataclass(frozen=True)
class Certified:
    """A server's TLS, and the file of the authority that vouches for it."""

    context: ssl.SSLContext
    authority: Path


def certify(folder: Path, host: str = "localhost") -> Certified:
    """TLS for `host` on this machine, vouched for by an authority of its own."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root_name = _named("an authority for tests")
    names = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    root = (
        _certificate(root_name, root_name, root_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(root_key.public_key()), critical=False
        )
        .sign(root_key, SHA256())
    )
    leaf = (
        _certificate(_named(host), root_name, key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()),
            critical=False,
        )
        .sign(root_key, SHA256())
    )
    authority, chain = folder / "authority.pem", folder / "chain.pem"
    authority.write_bytes(root.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(leaf.public_bytes(Encoding.PEM) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return Certified(context, authority)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
    )
