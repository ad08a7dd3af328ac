"""The API for screens on a bench: people with keys and tokens, and the document it is held to."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jsonschema_rs
from starlette.applications import Starlette
from tests.console.conftest import BASE, Bench
from tests.console.surface import COOKIE

from sayso.access import Access, ApiKeyAuth, Screens, make_api_key
from sayso.console import make_routes
from sayso.console.api.document import document
from sayso.console.entry.roles import Role

CHAT = "https://chat.example"
SCREENS = Screens(
    origins=frozenset({CHAT}),
    roles={"viewer": frozenset({"staff"}), "approver": frozenset({"finance"})},
)


@dataclass
class Desk:
    """A gateway where callers have keys, and screens of others are let in."""

    bench: Bench
    app: Starlette
    keys: dict[str, str] = field(default_factory=dict[str, str])

    async def key(self, name: str, *roles: str, scopes: tuple[str, ...] = ()) -> str:
        """The key of a new caller."""
        keys, store = self.bench.gateway.keys, self.bench.store
        text, row = make_api_key(
            keys, name, roles=roles, scopes=scopes, now=self.bench.clock(), by="amy"
        )
        await store.api_keys.add(row)
        return text

    @asynccontextmanager
    async def screen(
        self, key: str = "", *, origin: str = CHAT
    ) -> AsyncGenerator[httpx2.AsyncClient]:
        """A page of another origin that has a key."""
        headers = {"origin": origin} if origin else {}
        if key:
            headers["authorization"] = f"Bearer {key}"
        wire = httpx2.ASGITransport(self.app)
        async with httpx2.AsyncClient(transport=wire, base_url=BASE, headers=headers) as client:
            yield client

    @asynccontextmanager
    async def seat(self, role: Role, person: str = "amy") -> AsyncGenerator[httpx2.AsyncClient]:
        """A page of the console's own origin, with somebody's session."""
        session = self.bench.login.open_for(person, role, seconds=3600.0)
        found = await self.bench.login.session(session)
        assert found is not None
        headers = {"cookie": f"{COOKIE}={session}", "x-csrf-token": found.csrf}
        wire = httpx2.ASGITransport(self.app)
        async with httpx2.AsyncClient(transport=wire, base_url=BASE, headers=headers) as client:
            yield client


def make_app(bench: Bench, access: Access | None = None, screens: Screens | None = None) -> Any:
    """The console and the API of a bench."""
    routes = make_routes(
        bench.gateway,
        bench.login,
        base_url=BASE,
        is_alone=access is None,
        access=access,
        screens=screens,
    )
    return Starlette(routes=routes)


def make_dispatcher(bench: Bench, screens: Screens | None = SCREENS) -> Desk:
    """A desk whose callers have keys."""
    access = ApiKeyAuth(bench.store.api_keys, bench.gateway.keys, now=bench.clock)
    return Desk(bench, make_app(bench, access, screens))


def fits(value: Any, schema: str) -> Any:
    """The value, which must be as the document says."""
    whole = {"$ref": f"#/components/schemas/{schema}", "components": document()["components"]}
    found = [error.message for error in jsonschema_rs.iter_errors(whole, value)]
    assert found == [], value
    return value


def told(answer: httpx2.Response, status: int = 200) -> Any:
    """What an answer says; it and its type must be what the document promises for it."""
    assert answer.status_code == status, answer.text
    described = _described(answer)["responses"]
    found: Mapping[str, Any] = described[str(status)]
    if "$ref" in found:
        found = document()["components"]["responses"][found["$ref"].rpartition("/")[2]]
    (kind,) = found["content"]
    assert answer.headers["content-type"].partition(";")[0] == kind
    schema = {**found["content"][kind]["schema"], "components": document()["components"]}
    wrong = [error.message for error in jsonschema_rs.iter_errors(schema, answer.json())]
    assert wrong == [], answer.text
    return answer.json()


def _described(answer: httpx2.Response) -> Mapping[str, Any]:
    """What the document says of the request that was answered."""
    path = answer.request.url.path.partition("/api/v1")[2].split("/")
    for known, verbs in document()["paths"].items():
        parts = known.split("/")
        if len(parts) == len(path) and all(
            one == other or one.startswith("{") for one, other in zip(parts, path, strict=True)
        ):
            return verbs[answer.request.method.lower()]
    raise LookupError(answer.request.url)
