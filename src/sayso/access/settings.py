"""The validated settings of access.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sayso.access.keyset import ALGORITHMS
from sayso.connect import ClientAuth
from sayso.keys import Reference


@dataclass(frozen=True, slots=True)
class Introspection:
    """Token introspection at `url`, by default the URL in the issuer's metadata."""

    auth: ClientAuth
    url: str | None = None
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class OAuth:
    """The issuer whose tokens are accepted, and the requirements on a token."""

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
    """The issuer for logins to the console, and people's roles.

    `roles` maps each of the console's roles to values of `claim`. If `people` is set, only they may
    log in. `seconds` is how long a login lasts.
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
    """The other pages that may show pending questions, and the callers who may see or answer them.

    `roles` maps each of the console's roles to callers' roles. If `clients` or `people` (subjects
    of tokens) are set, others are refused.
    """

    origins: frozenset[str] = frozenset()
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    clients: frozenset[str] | None = None
    people: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of access.toml. At least one of `oauth` and `has_api_keys` is set."""

    oauth: OAuth | None = None
    has_api_keys: bool = False
    console: Console | None = None
    screens: Screens | None = None
