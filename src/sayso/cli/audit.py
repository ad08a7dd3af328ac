"""`sayso audit`: read, verify, export and prune the log of all calls."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from sayso.cli.commands import App, option
from sayso.cli.format_record import fields_of, local_time, tool_of
from sayso.cli.options import Json, Store, Yes
from sayso.cli.store_access import counting, keys_of, run_on
from sayso.cli.terminal import (
    ask_first,
    make_table,
    out,
    plain,
    plural,
    print_document,
    show_text,
    talk,
    working,
)
from sayso.errors import UsageError
from sayso.store import Database, Head, RecordRow
from sayso.styled import Table, Text

_PAGE: Final = 1000
_MAX_NAMED: Final = 5
"""Subjects that a confirmation names."""
_STYLES: Final = {"warning": "yellow", "error": "red", "critical": "bold red"}

app = App(name="audit", help="Read, verify and export the log of all calls.")


@app.command(name="list")
def list_(*, store: Store = None, limit: int = 50, json: Json = False) -> int:
    """Show the last lines of the log.

    Parameters
    ----------
    limit
        Maximum number of lines.
    """
    rows = run_on(store, lambda kept: kept.records.newest(limit=limit))
    _show(list(reversed(rows)), is_json=json)
    return 0


@app.command
def show(call: str, *, store: Store = None, json: Json = False) -> int:
    """Show all records of one call.

    Parameters
    ----------
    call
        The call's id from `sayso audit list`, or a prefix of it.
    """
    rows = run_on(store, lambda kept: _of_call(kept, call))
    if not rows:
        fix = "Run sayso audit list to see the newest calls."
        raise UsageError(f"no call {call!r} in the log", fix=fix)
    if json:
        _show(rows, is_json=True)
        return 0
    from sayso.audit import to_dict

    before: dict[str, Any] = {}
    for row in rows:
        body = to_dict(row)
        show_text(f"{body['event']} at {local_time(body['at'])}", "bold")
        table = Table(has_header=False)
        for name, value in fields_of(body, before):
            table.add_row(Text(f"  {name}", "dim"), plain(value))
        out().print(table)
        before = body
    return 0


@app.command
def verify(*, store: Store = None, heads: Path | None = None, json: bool = False) -> int:
    """Check that no record was changed, moved, removed or inserted; show the first problem.

    Exit code 1 if the log is not sound.

    Parameters
    ----------
    heads
        A file of chain heads from outside the store (JSON Lines, or a log that contains them).
        With it, sayso also detects records cut off at the end.
    json
        Print one JSON document, with the current heads.
    """
    from sayso.audit import read_heads
    from sayso.audit import verify as check

    known: dict[str, Head] = {}
    if heads:
        known = read_heads(_lines_of(heads), str(heads))
    keys = keys_of(store)

    async def run(kept: Database) -> Any:
        with counting("Verifying", await kept.records.count()) as progress:
            return await check(kept.records, keys, known=known, progress=progress)

    report = run_on(store, run)
    if json:
        print_document({"is_sound": not report.problems, **asdict(report)})
    else:
        _print_report(report, has_heads=bool(known))
    return int(bool(report.problems))


@app.command
def export(
    *,
    form: Annotated[Literal["jsonl", "csv", "ocsf"], option("--format")] = "jsonl",
    output: Path | None = None,
    store: Store = None,
) -> int:
    """Write all records, oldest first, for another program.

    Parameters
    ----------
    form
        jsonl (one JSON object per line), csv, or ocsf (API Activity, one event per line).
    output
        The file to write. Default: standard output.
    """
    from sayso.audit import export as write

    async def run(kept: Database) -> None:
        with counting("Exporting", await kept.records.count()) as progress:
            rows = await kept.records.scan(0, _PAGE)
            sink(write(rows, form))
            while rows:
                progress(rows[-1].seq)
                rows = await kept.records.scan(rows[-1].seq, _PAGE)
                # Only the first page has the CSV header.
                sink(islice(write(rows, form), int(form == "csv"), None))

    if output is None:
        sink: Callable[[Iterable[str]], None] = sys.stdout.writelines
        run_on(store, run)
        return 0
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            sink = file.writelines
            run_on(store, run)
    except OSError as error:
        what = f"the file cannot be written: {error.strerror}"
        raise UsageError(what, where=str(output)) from error
    return 0


@app.command
def erase(subject: str, *, yes: Yes = False, store: Store = None, json: Json = False) -> int:
    """Erase the personal data of one subject; the log still verifies afterwards.

    Shows how many records are affected, and asks first.

    Parameters
    ----------
    subject
        The subject from `sayso audit list`.
    """
    from sayso.audit import erase_subject, open_audit

    keys = keys_of(store)

    async def run(kept: Database) -> Any:
        async with open_audit(kept, keys) as log:
            return await erase_subject(log, subject)

    if not yes:
        found = run_on(store, lambda kept: kept.records.tally(subject=subject))
        ask_first(f"Erase {_counted(found)}? This cannot be undone.")
    with working("Erasing …"):
        done = run_on(store, run)
    if json:
        print_document({"erased": done.records, "still_open": done.still_open})
    else:
        out().print(f"{done.records} records erased")
        if done.still_open:
            talk().print(f"{done.still_open} questions are still open; run this again later.")
    return 0


@app.command
def prune(*, days: int, yes: Yes = False, store: Store = None, json: Json = False) -> int:
    """Delete records older than a number of days; the remaining log still verifies.

    Shows how many records of which subjects are affected, and asks first.

    Parameters
    ----------
    days
        Maximum age of a record in days.
    """
    from sayso.audit import drop_before, open_audit

    if days < 1:
        raise UsageError(f"must be at least 1, got {days}", where="--days")
    keys = keys_of(store)

    async def run(kept: Database) -> int:
        async with open_audit(kept, keys) as log:
            return await drop_before(log, keys, log.clock() - days * 86_400)

    if not yes:
        found = run_on(store, lambda kept: kept.records.tally(before=kept.clock() - days * 86_400))
        ask_first(f"Delete {_counted(found)}, older than {days} days? This cannot be undone.")
    with working("Deleting old records …"):
        dropped = run_on(store, run)
    if json:
        print_document({"dropped": dropped})
    else:
        out().print(f"{dropped} records deleted")
    return 0


def _counted(tally: Sequence[tuple[str | None, int]]) -> str:
    total = sum(count for _, count in tally)
    if not total:
        return "no records"
    parts = [f"{subject or 'no subject'}: {count:,}" for subject, count in tally[:_MAX_NAMED]]
    rest = tally[_MAX_NAMED:]
    if rest:
        parts.append(f"{len(rest):,} others: {sum(count for _, count in rest):,}")
    return f"{total:,} {plural(total, 'record')} ({', '.join(parts)})"


async def _of_call(kept: Database, call: str) -> list[RecordRow]:
    rows = await kept.records.newest(call=call, limit=_PAGE)
    if not rows and call:
        newest = await kept.records.newest(limit=10 * _PAGE)
        match = next((row.call for row in newest if row.call.startswith(call)), None)
        if match:
            rows = await kept.records.newest(call=match, limit=_PAGE)
    return rows[::-1]


def _show(rows: list[RecordRow], *, is_json: bool) -> None:
    from sayso.audit import to_dict

    bodies = [to_dict(row) for row in rows]
    if is_json:
        print_document({"records": bodies})
        return
    table = make_table("time", "event", "call", "who", "tool", "outcome")
    for body in bodies:
        who = "/".join(str(body[name]) for name in ("subject", "client") if name in body)
        outcome = Text(str(body.get("outcome", "")), _STYLES.get(body.get("severity", ""), ""))
        time = local_time(body["at"])
        call = body["call"][:12]
        table.add_row(time, body["event"], call, plain(who), plain(tool_of(body)), outcome)
    out().print(table)


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise UsageError(what, where=str(path)) from error


def _print_report(report: Any, *, has_heads: bool) -> None:
    if report.first is not None:
        show_text(str(report.first), "red")
        if (more := len(report.problems) - 1) > 0:
            talk().print(f"{more} more; --json lists them all.")
        return
    out().print(
        f"sound: {report.records} records in {len(report.heads)} chains, "
        f"{report.erased} of them erased, {report.unchained} older than the chains"
    )
    if not has_heads:
        talk().print("Without --heads, records cut off at the end may go unnoticed.")
