"""Who calls."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from sayso.fields import boolean, convert, optional, text, texts


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: who it is, through which client it calls, and what it may see.

    `scopes` is `None` where nobody hands out scopes or roles: a person's own machine, without
    authentication. `is_local` says that it calls from such a machine all the same: an author has
    said what it may see, and nobody has proved who it is. `tenant` is the organization it acts for.
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
        """The name under which answers, limits, history and connections are kept apart.

        The subject, together with its tenant if it has one.
        """
        return account_of(self.subject, self.tenant)

    @property
    def caller(self) -> str:
        """Whom to share fairly with: its subject, or its client where no one has a subject."""
        return self.account if self.is_known else f"{self.account} {self.client}"

    @property
    def is_known(self) -> bool:
        """Whether it has proved who it is; then the person at its client is itself."""
        return self.scopes is not None and not self.is_local


LOCAL: Final = "local"
"""The subject of every caller on a machine without authentication."""

TENANT_PREFIX: Final = "tenant:"
"""How accounts with a tenant begin; no subject of a token does."""


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
