"""Writes of a role that may change the database but has no keys."""

from tests.databases import Place

from sayso.store import Database, Questions
from sayso.store.session import Session


async def write(store: Database | Questions, *statements: str, **values: object) -> None:
    """Run statements in one transaction, with values for their `:names`, on either database."""

    def work(session: Session) -> None:
        for statement in statements:
            session.change(statement, values)

    await vars(store)["_executor"].write(work)


async def pass_over(store: Database | Questions, place: Place, moment: str) -> None:
    """Have the database pass over such changes in silence."""
    if place.kind == "sqlite":
        ignore = f"CREATE TRIGGER eve BEFORE {moment} BEGIN SELECT RAISE(IGNORE); END"
        await write(store, ignore)
        return
    await write(
        store,
        "CREATE FUNCTION eve() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$",
        f"CREATE TRIGGER eve BEFORE {moment} FOR EACH ROW EXECUTE FUNCTION eve()",
    )
