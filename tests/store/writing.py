"""What a role that may write the database, but has no keys, can do."""

from typing import Any, cast

from avow.store import Store
from avow.store.session import Session


async def write(store: Store, *statements: str, **values: object) -> None:
    """Run statements in one transaction, with values for their `:names`, on either database."""

    def work(session: Session) -> None:
        for statement in statements:
            session.change(statement, values)

    await cast("Any", store)._writer.run(work)  # noqa: SLF001 - no part of a store does this
