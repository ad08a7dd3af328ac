"""The three kinds of target: a command to run, an address to call, a list that was saved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sayso.connect.auth import UpstreamAuth
from sayso.schema import digest


@dataclass(frozen=True, slots=True)
class Contract:
    """That what counts as read-only changes nothing but what is under `own`: the server's state."""

    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A server that sayso starts and speaks to over stdio.

    `env` is what is set beyond the few variables every server gets; its values are kept out of
    `repr()`. Without a `cwd` the server runs where sayso runs. One that is not shared starts for
    each principal. With a `contract`, tools that count as read-only are held to it: the gateway
    runs them where nothing can be changed.
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
    """A server that is reached over streamable HTTP. Without `is_shared`, for each principal anew.

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
        """The URL as it may be shown: without its query, where some servers take their key."""
        parts = urlsplit(self.url)
        return parts._replace(query="…").geturl() if parts.query else self.url

    def __repr__(self) -> str:
        """Name and address, without headers and query: both may hold secrets."""
        return f"UrlTarget(name={self.name!r}, url={self.shown!r})"


@dataclass(frozen=True, slots=True)
class SavedTarget:
    """Tools as they once stood in a server's `tools/list`, raw: unknown keys and odd hints stay.

    `server` is what the file says of the server (name, version); empty where it says nothing.
    """

    name: str
    path: str
    server: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, hash=False)
    tools: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, hash=False)


Target = CommandTarget | UrlTarget | SavedTarget


def origin_of(target: CommandTarget | UrlTarget) -> str:
    """A digest of what exactly a target connects to, secrets included and not to be read back.

    Two servers of one name, in two configurations, have two origins.
    """
    if isinstance(target, UrlTarget):
        told = {"url": target.url, "headers": dict(target.headers)}
        return digest(told if target.auth is None else {**told, "auth": target.auth.to_dict()})
    where = target.cwd if target.cwd is not None else str(Path.cwd())
    words = [target.command, *target.args]
    return digest({"command": words, "env": dict(target.env), "cwd": where})


def place_of(target: CommandTarget | UrlTarget) -> str:
    """A digest of which server a target names, whatever secrets it is given: those may change."""
    if isinstance(target, UrlTarget):
        return digest({"name": target.name, "url": target.url})
    where = target.cwd if target.cwd is not None else str(Path.cwd())
    words = [target.command, *target.args]
    return digest({"name": target.name, "command": words, "cwd": where})
