"""All that can be asked of the console, read from its routes, so that nothing new is forgotten."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import anyio
from starlette.routing import BaseRoute, Mount, Route
from tests.console.conftest import BASE, Bench

from sayso.access import API
from sayso.console.entry.roles import Role
from sayso.console.gate import Gate, ScreenGate

COOKIE = "sayso_console_8321"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True, order=True, slots=True)
class Address:
    """One route with one of its methods; `path` has its parameters in braces."""

    verb: str
    path: str

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"

    def filled(self, values: Mapping[str, str]) -> str:
        """The path with a value for each parameter: `1` where `values` has none."""
        return _PARAMETER.sub(lambda found: values.get(found[1], "1"), self.path)


def addresses(routes: Iterable[BaseRoute], below: str = "") -> list[Address]:
    """Every route of the console below `below`, once for each of its methods but HEAD.

    What is for tokens alone is left out: no session and no form opens it (`test_api_surface`).
    """
    return [one for one in all_addresses(routes, below) if not one.path.startswith(f"{API}/")]


def all_addresses(routes: Iterable[BaseRoute], below: str = "") -> list[Address]:
    """The same with what is for tokens."""
    found: list[Address] = []
    for route in routes:
        if isinstance(route, Mount):
            inner: Any = route.app.app if isinstance(route.app, Gate | ScreenGate) else route.app
            found += all_addresses(inner.routes, below + route.path)
        elif isinstance(route, Route):
            verbs = (route.methods or {"GET"}) - {"HEAD"}
            found += [Address(verb, below + route.path) for verb in verbs]
        else:
            raise TypeError(route)
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Told:
    """The beginning of an answer: of a stream, its first piece."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_barred(self) -> bool:
        """Whether it says that a role is missing."""
        return self.status == 403 and "This requires the role" in self.text


async def ask(
    app: Any,
    verb: str,
    path: str,
    *,
    session: str = "",
    form: Mapping[str, str] | None = None,
    **headers: str,
) -> Told:
    """Send one request to the console, and take what it says first."""
    parts = urlsplit(path)
    sent = {"host": urlsplit(BASE).netloc, **{k.replace("_", "-"): v for k, v in headers.items()}}
    if session:
        sent["cookie"] = f"{COOKIE}={session}"
    if verb == "POST":
        sent["content-type"] = "application/x-www-form-urlencoded"
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": verb,
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8321),
    }
    body = [urlencode(form or {}).encode()]
    messages: list[Any] = []
    with anyio.CancelScope() as whole:

        async def receive() -> Any:
            if not body:
                await anyio.sleep_forever()
            return {"type": "http.request", "body": body.pop(), "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)
            if message["type"] == "http.response.body" and message.get("more_body"):
                whole.cancel()
                await anyio.sleep_forever()

        await app(scope, receive, send)
    start, *rest = messages
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    text = b"".join(one.get("body", b"") for one in rest).decode(errors="replace")
    return Told(start["status"], told, text)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody before a browser: logged in with a role, or with none."""

    session: str = ""
    csrf: str = ""


async def visitor_of(bench: Bench, role: Role | None) -> Visitor:
    """Somebody who has just logged in with this role; with none, nobody."""
    if role is None:
        return Visitor()
    session = bench.login.open_for(f"some {role}", role, seconds=3600.0)
    found = await bench.login.session(session)
    assert found is not None
    return Visitor(session, found.csrf)
