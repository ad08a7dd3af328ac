"""The settings of an access.toml, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sayso.access.keyset import ALGORITHMS
from sayso.connect import ClientAuth
from sayso.keys import Reference


@dataclass(frozen=True, slots=True)
class Introspection:
    """How the issuer is asked about tokens; without a `url` its metadata says where."""

    auth: ClientAuth
    url: str | None = None
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class OAuth:
    """Whose tokens are taken, and what they must say."""

    issuer: str
    audience: str | None = None
    scopes: tuple[str, ...] = ()
    roles: str = "roles"
    tenant: str | None = None
    leeway: float = 30.0
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)
    typ: str | None = None
    introspection: Introspection | None = None


@dataclass(frozen=True, slots=True)
class Console:
    """With whom people log in to the console, and what each may do there.

    `roles` are the words of `claim` that bring each of the console's roles, and `people` the only
    ones who may log in. `seconds` is how long a login lasts.
    """

    issuer: str
    client_id: str
    roles: Mapping[str, frozenset[str]]
    secret: Reference | None = None
    is_in_body: bool = False
    scopes: tuple[str, ...] = ()
    claim: str = "roles"
    people: frozenset[str] | None = None
    seconds: float = 12 * 3600.0
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)


@dataclass(frozen=True, slots=True)
class Screens:
    """Which pages of others may show what waits, and which callers may look and answer there.

    `roles` are the roles of callers that bring each of the console's. `clients` are the only ones
    whose tokens count, and `people` the only subjects of tokens.
    """

    origins: frozenset[str] = frozenset()
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    clients: frozenset[str] | None = None
    people: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Who may call: at least one of the first two lets somebody in. And who may log in."""

    oauth: OAuth | None = None
    has_api_keys: bool = False
    console: Console | None = None
    screens: Screens | None = None
