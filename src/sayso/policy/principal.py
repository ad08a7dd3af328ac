"""The caller of a tool."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from sayso.fields import boolean, convert, optional, text, texts


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: its subject, its client, and its scopes and roles.

    `scopes` is `None` on a machine without authentication. `is_local` marks a caller on such a
    machine whose scopes an author has set. `tenant` is the organization for which the caller acts.
    """

    subject: str
    client: str = "unknown"
    scopes: frozenset[str] | None = None
    roles: frozenset[str] = frozenset()
    is_local: bool = False
    tenant: str | None = None

    def __post_init__(self) -> None:
        convert(
            self,
            subject=text,
            client=text,
            scopes=optional(texts),
            roles=texts,
            is_local=boolean,
            tenant=optional(text),
        )

    @property
    def account(self) -> str:
        """The subject with its tenant, under which answers, limits and history are stored."""
        return account_of(self.subject, self.tenant)

    @property
    def caller(self) -> str:
        """The key for fair sharing: the account; plus the client if it is not authenticated."""
        return self.account if self.is_known else f"{self.account} {self.client}"

    @property
    def is_known(self) -> bool:
        return self.scopes is not None and not self.is_local


LOCAL: Final = "local"
"""The subject of every caller on a machine without authentication."""

TENANT_PREFIX: Final = "tenant:"
"""The prefix of accounts with a tenant. It is reserved, so no token's subject has it."""


def account_of(subject: str, tenant: str | None) -> str:
    """Return one name for a subject in a tenant.

    >>> account_of("amy", None), account_of("amy", "a/b")
    ('amy', 'tenant:a%2Fb/amy')
    """
    if tenant is None:
        return subject
    return f"{TENANT_PREFIX}{quote(tenant, safe='')}/{subject}"


def subject_of(account: str) -> str:
    """Return the subject of an account.

    >>> subject_of("tenant:a%2Fb/amy"), subject_of("amy")
    ('amy', 'amy')
    """
    _, slash, subject = account.partition("/")
    return subject if slash and account.startswith(TENANT_PREFIX) else account
