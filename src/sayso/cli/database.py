"""`sayso db`: back up, restore, migrate or move a store."""

import contextlib
import getpass
import sys
from collections.abc import Callable, Generator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from sayso.cli.commands import App
from sayso.cli.format_record import local_time
from sayso.cli.options import Json, Store
from sayso.cli.store_access import beside, check_exists, counting, opened, run_on
from sayso.cli.terminal import out, print_document, show_text, talk, tell
from sayso.errors import UsageError
from sayso.store import Database

if TYPE_CHECKING:
    from sayso.backup import Backup

app = App(name="db", help="Back up, restore, migrate or move the store.")


@app.command
def status(*, store: Store = None, json: Json = False) -> int:
    """Show the version, size, rows and oldest record of a store. Changes nothing."""
    from sayso.store import VERSION, read_status

    found = read_status(store)
    if json:
        print_document({**asdict(found), "newest_version": VERSION})
        return 0
    oldest = "none" if found.oldest is None else local_time(found.oldest)
    show_text(found.where, "bold")
    out().print(f"version {found.version} of {VERSION}, {_size(found.bytes)}")
    out().print(f"oldest record: {oldest}")
    for table, count in found.rows.items():
        if count:
            out().print(f"  {table:<14}{count:>12,}")
    if found.version < VERSION:
        talk().print("Older than this sayso. Back it up, then run sayso db migrate.")
    return 0


@app.command
def backup(
    file: Path,
    *,
    with_keys: bool = False,
    passphrase_file: Path | None = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Write a verified backup of the store to a new file, while sayso is running.

    The file is complete when it appears. Keep the keys in another place: without them, the backup
    cannot be restored. Exit code 1 if the log in the store is not sound.

    Example: sayso db backup backups/monday.sayso

    Parameters
    ----------
    file
        The file to create, readable only by you. It contains personal data.
    with_keys
        Add the keys, encrypted under a passphrase that sayso asks for.
    passphrase_file
        With --with-keys: a private file whose first line is the passphrase, such as /dev/fd/3.
    """
    from sayso.backup import back_up
    from sayso.keys import key_file, load_keys

    if passphrase_file is not None and not with_keys:
        raise UsageError("requires --with-keys", where="--passphrase-file")
    check_exists(store)
    keys = load_keys(beside(store))
    passphrase = _passphrase(passphrase_file, is_new=True) if with_keys else None
    with _stages() as progress:
        done = anyio.run(
            partial(back_up, store, file, keys, passphrase=passphrase, progress=progress)
        )
    _print_backup(done, key_file(beside(store)), is_json=json)
    return int(bool(done.problems))


@app.command
def restore(
    file: Path,
    *,
    passphrase_file: Path | None = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Restore a backup into an empty store. Refuses a store that has data.

    Everything is checked first, and written in one transaction. sayso uses the keys of the store;
    if there are none, it takes them from the backup. Calls and changes after the backup are not in
    the store: approvals that were open expire, and revoked keys and grants are valid again. Exit
    code 1 if the log was not sound when it was backed up.

    Example: sayso db restore backups/monday.sayso --store sqlite:new/sayso.db

    Parameters
    ----------
    file
        A file of sayso db backup.
    passphrase_file
        A private file whose first line is the passphrase of the keys. Default: sayso asks.
    """
    from sayso.backup import restore as restore_backup

    def ask() -> str:
        return _passphrase(passphrase_file, is_new=False)

    with _stages() as progress:
        done = anyio.run(partial(restore_backup, file, store, passphrase=ask, progress=progress))
    records = done.manifest.rows["records"]
    if json:
        print_document(
            {
                "records": records,
                "created": done.manifest.created,
                "key_file": None if done.wrote_keys is None else str(done.wrote_keys),
                "is_sound": not done.problems,
                "problems": done.problems,
            }
        )
        return int(bool(done.problems))
    show_text(f"{records:,} records restored, as of {local_time(done.manifest.created)}")
    if not done.problems:
        out().print("the restored log verifies")
    if done.wrote_keys is not None:
        tell(f"The keys are in {done.wrote_keys}.")
    tell(
        "What was revoked after the backup is valid again: check sayso keys list and sayso grants."
    )
    _show_problems(done.problems)
    return int(bool(done.problems))


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


def _print_backup(done: "Backup", place: Path | None, *, is_json: bool) -> None:
    manifest = done.manifest
    has_keys = manifest.locked is not None
    if is_json:
        print_document(
            {
                "file": str(done.file),
                "bytes": done.bytes,
                "sha256": manifest.sha256,
                "version": manifest.version,
                "rows": manifest.rows,
                "keys": list(manifest.keys),
                "has_keys": has_keys,
                "key_file": None if place is None else str(place),
                "is_sound": not done.problems,
                "problems": done.problems,
            }
        )
        return
    records = manifest.rows["records"]
    show_text(f"{done.file}: {records:,} records, {_size(done.bytes)}, read again and verified")
    if has_keys:
        tell("Contains the keys. They are lost without the passphrase.")
    else:
        tell(f"Contains no keys. Keep a copy of {place or 'SAYSO_KEYS'} in another place.")
    _show_problems(done.problems)


@contextlib.contextmanager
def _stages() -> Generator[Callable[[str, int, int], None]]:
    """Show the progress of several stages, only on a terminal."""
    console = talk()
    if not console.is_terminal:
        yield lambda _stage, _done, _total: None
        return
    with console.status("Starting") as shown:
        yield lambda stage, done, total: shown.update(f"{stage}: {100 * done // max(total, 1)} %")


def _passphrase(file: Path | None, *, is_new: bool) -> str:
    if file is not None:
        from sayso.keys import read_passphrase

        return read_passphrase(file)
    if not sys.stdin.isatty():
        raise UsageError("a passphrase requires a terminal", fix="Add --passphrase-file FILE.")
    given = getpass.getpass("Passphrase: ")
    if is_new and getpass.getpass("Again: ") != given:
        raise UsageError("the two passphrases differ", fix="Run the command again.")
    return given


def _show_problems(problems: list[str]) -> None:
    if problems:
        show_text(f"the log is not sound: {problems[0]}", "red")


def _size(count: int) -> str:
    """Return a number of bytes for people.

    >>> _size(1_500_000)
    '1.5 MB'
    """
    return f"{count / 1e6:,.1f} MB"
