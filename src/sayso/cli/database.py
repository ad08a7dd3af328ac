"""`sayso db`: migrate a store, or move it to another database."""

from typing import Any

import anyio
from cyclopts import App

from sayso.cli.options import Json, Store
from sayso.cli.store_access import beside, counting, opened, run_on
from sayso.cli.terminal import out, print_document, talk
from sayso.store import Database

app = App(name="db", help="Migrate the store, or move it to another database.")


@app.command
def migrate(*, store: Store = None, json: Json = False) -> int:
    """Update a store's tables to this version of sayso, if they are older."""
    from sayso.store import VERSION

    async def look(kept: Database) -> tuple[str, int]:
        return kept.where, await kept.records.count()

    where, records = run_on(store, look)
    if json:
        print_document({"store": where, "version": VERSION, "records": records})
    else:
        out().print(f"{where} has version {VERSION} and {records} records")
    return 0


@app.command
def move(source: str, target: str, *, json: Json = False) -> int:
    """Copy a store into an empty one, and verify the copied log; the source does not change.

    First stop all processes that write to the source. Exit code 1 if the copied log is not sound.

    Parameters
    ----------
    source
        The store to read: sqlite:PATH or postgresql://USER@HOST/DATABASE.
    target
        The store to write; a SQLite file is created.
    """
    report, moved = anyio.run(_move, source, target)
    problems = [str(problem) for problem in report.problems]
    if json:
        print_document({"records": moved, "is_sound": not problems, "problems": problems})
    else:
        out().print(f"{moved} records moved")
        out().print(f"not sound: {problems[0]}" if problems else "the copied log verifies")
        if beside(target) is not None or beside(source) is not None:
            talk().print("Keys are not copied. Give the target the keys of the source.")
    return int(bool(problems))


async def _move(source: str, target: str) -> tuple[Any, int]:
    from sayso.audit import verify
    from sayso.keys import load_keys
    from sayso.store import move_store

    keys = load_keys(beside(source) or beside(target))
    async with opened(source) as old, opened(target, is_new=True) as new:
        known = {head.writer: head for head in await old.records.heads()}
        with counting("Moving", await old.records.count()) as progress:
            moved = await move_store(old, new, progress)
        with counting("Verifying", moved) as progress:
            return await verify(new.records, keys, known=known, progress=progress), moved
