"""How sayso proves itself to a server behind it, as an entry of a configuration says."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from sayso.keys import Reference


class AuthKind(StrEnum):
    """By which grant a token is had: for all callers one, or for each its own."""

    CLIENT_CREDENTIALS = "client_credentials"
    TOKEN_EXCHANGE = "token_exchange"  # noqa: S105 - the name of a grant


@dataclass(frozen=True, slots=True)
class UpstreamAuth:
    """A grant at a token endpoint: RFC 6749, section 4.4, or RFC 8693.

    `resource` (RFC 8707) and `audience` (RFC 8693) say which server the token is for.
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
        """The token endpoint as it may be shown: without its query."""
        return urlsplit(self.token_url)._replace(query="").geturl()

    @property
    def is_exchange(self) -> bool:
        return self.type is AuthKind.TOKEN_EXCHANGE

    def to_dict(self) -> dict[str, Any]:
        """What it is, to be told from others; it holds no secret."""
        secret = f"{self.client_secret.kind}:{self.client_secret.place}"
        fields = (self.token_url, self.client_id, secret, self.scope, self.resource, self.audience)
        return {"type": str(self.type), "fields": list(fields)}
