"""Single-use tokens of sealed states, posted links, sessions, questions and grants."""

from typing import TYPE_CHECKING, Final

from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

_REMEMBERED_SECONDS: Final = 30 * 86400.0
_SPEND: Final = (
    "INSERT INTO spent (token, expires) VALUES (:token, :expires) ON CONFLICT DO NOTHING"
)


class Tokens:
    """The tokens that were spent."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def spend(self, token: str, *, now: float, expires: float) -> bool:
        return await self._executor.write(
            lambda session: spend(session, token, now=now, expires=expires)
        )

    async def is_spent(self, token: str) -> bool:
        return await self._executor.read(lambda session: is_spent(session, token))


def spend(session: Session, token: str, *, now: float, expires: float) -> bool:
    """Spend a token; return whether it was unspent.

    The token stays stored long after it expires, in case a clock is set back.
    """
    session.change("DELETE FROM spent WHERE expires <= :old", {"old": now - _REMEMBERED_SECONDS})
    return session.change(_SPEND, {"token": token, "expires": expires}) == 1


def is_spent(session: Session, token: str) -> bool:
    """Return whether a token was spent."""
    return bool(session.query("SELECT 1 FROM spent WHERE token = :token", {"token": token}))
