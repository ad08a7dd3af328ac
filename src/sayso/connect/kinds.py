"""The three kinds of target: a command, a URL, and a saved list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sayso.keys import Reference
from sayso.schema import digest


class AuthKind(StrEnum):
    """The grant for a token: one token for all callers, or one for each caller."""

    CLIENT_CREDENTIALS = "client_credentials"
    TOKEN_EXCHANGE = "token_exchange"  # noqa: S105 - the name of a grant


@dataclass(frozen=True, slots=True)
class UpstreamAuth:
    """A grant at a token endpoint: RFC 6749, section 4.4, or RFC 8693.

    `resource` (RFC 8707) and `audience` (RFC 8693) name the server that the token is for.
    """

    type: AuthKind
    token_url: str
    client_id: str
    client_secret: Reference
    is_secret_in_body: bool = False
    scope: str | None = None
    resource: str | None = None
    audience: str | None = None

    @property
    def shown(self) -> str:
        """The token endpoint without its query, for messages."""
        return urlsplit(self.token_url)._replace(query="").geturl()

    @property
    def is_exchange(self) -> bool:
        return self.type is AuthKind.TOKEN_EXCHANGE

    def to_dict(self) -> dict[str, Any]:
        secret = f"{self.client_secret.kind}:{self.client_secret.place}"
        fields = (self.token_url, self.client_id, secret, self.scope, self.resource, self.audience)
        return {"type": str(self.type), "fields": list(fields)}


@dataclass(frozen=True, slots=True)
class Contract:
    """A promise that read-only tools change nothing outside `own`, the server's own state."""

    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A server that sayso starts and speaks to over stdio.

    `env` adds to the variables that every server gets; `repr()` hides the values of `env`. Without
    a `cwd` the server runs where sayso runs. Unless `is_shared`, each principal gets a process.
    With a `contract`, the gateway runs read-only tools where they can change nothing.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, hash=False)
    cwd: str | None = None
    is_shared: bool = False
    contract: Contract | None = None


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A server over streamable HTTP; unless `is_shared`, each principal has its own connection.

    >>> UrlTarget("example", "https://example.com/mcp?key=secret")
    UrlTarget(name='example', url='https://example.com/mcp?…')
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, hash=False)
    auth: UpstreamAuth | None = field(default=None, repr=False)
    is_shared: bool = False

    @property
    def shown(self) -> str:
        """The URL for messages, without its query: some servers have their key there."""
        parts = urlsplit(self.url)
        if not parts.query:
            return self.url
        return parts._replace(query="…").geturl()

    def __repr__(self) -> str:
        """Return name and URL without headers and query, which may contain secrets."""
        return f"UrlTarget(name={self.name!r}, url={self.shown!r})"


@dataclass(frozen=True, slots=True)
class SavedTarget:
    """The raw tools of a saved `tools/list`, with unknown keys and odd hints.

    `server` has the server's name and version, if the file has them.
    """

    name: str
    path: str
    server: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, hash=False)
    tools: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, hash=False)


Target = CommandTarget | UrlTarget | SavedTarget


def origin_of(target: CommandTarget | UrlTarget) -> str:
    """Return a digest of everything that a target connects with, including secrets.

    Servers with one name in different configurations have different origins.
    """
    if isinstance(target, UrlTarget):
        fields: dict[str, Any] = {"url": target.url, "headers": dict(target.headers)}
        if target.auth is not None:
            fields["auth"] = target.auth.to_dict()
        return digest(fields)
    return digest({**_start_of(target), "env": dict(target.env)})


def place_of(target: CommandTarget | UrlTarget) -> str:
    """Return a digest of a target's name and address, without secrets, which may change."""
    if isinstance(target, UrlTarget):
        return digest({"name": target.name, "url": target.url})
    return digest({**_start_of(target), "name": target.name})


def _start_of(target: CommandTarget) -> dict[str, Any]:
    where = target.cwd if target.cwd is not None else str(Path.cwd())
    return {"command": [target.command, *target.args], "cwd": where}
