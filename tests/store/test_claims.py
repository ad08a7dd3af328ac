"""Keys of calls: whoever takes one has it alone, also when it is let go of meanwhile."""

from collections.abc import Mapping
from typing import Any

from tests.postgres import PostgresServer

from avow.store import Claim, claims
from avow.store.postgres import PostgresDriver
from avow.store.session import Session


class Slow:
    """A session that is slow to look who has a key: meanwhile it is let go of."""

    def __init__(self, session: Session, other: Session) -> None:
        self._session, self._other = session, other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        claims.settle(self._other, "k", "first", None)
        return self._session.query(sql, values)


def test_a_key_that_is_let_go_of_while_it_is_asked_for_is_taken_by_one(
    postgres: PostgresServer,
) -> None:
    driver = PostgresDriver(postgres.fresh())
    first, second = driver.open(), driver.open()
    claims.claim(first, _claim("first"), now=0.0)
    slow: Any = Slow(second, first)
    assert claims.claim(slow, _claim("second"), now=0.0).call == "second"
    assert claims.claim(first, _claim("third"), now=0.0).call == "second"
    first.close()
    second.close()


def _claim(call: str) -> Claim:
    return Claim("k", "amy", "r", call, "w", expires=60.0)
