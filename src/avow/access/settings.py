"""What an access.toml says, checked and made ready."""

from dataclasses import dataclass

from avow.access.keyset import ALGORITHMS
from avow.connect.fetch import ClientAuth


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
    leeway: float = 30.0
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)
    typ: str | None = None
    introspection: Introspection | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Who may call. At least one of the two lets somebody in."""

    oauth: OAuth | None = None
    has_api_keys: bool = False
