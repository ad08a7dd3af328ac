"""`sayso submit`: the documents that a store review asks for."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio

from sayso.cli.address import check_seconds
from sayso.cli.lint_input import read_lint_input, source_of
from sayso.cli.options import Command, Timeout, targets_of
from sayso.cli.output_files import check_writable
from sayso.cli.terminal import say, working
from sayso.errors import SaysoError, UsageError
from sayso.lint import Listing, Submission, as_json, as_markdown, find_store
from sayso.lint import submit as make_submission
from sayso.schema import plain


def submit(
    store: Literal["openai", "anthropic"],
    /,
    *target: str,
    out: str | None = None,
    json: bool = False,
    force: bool = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Write the documents that a store review asks for: hints, reasons, names and prompts.

    Lists the tools and calls none. Exit code 1 if the store's rules find an error; the documents
    then list it.

    Parameters
    ----------
    store
        openai or anthropic.
    target
        One server, as for sayso lint. A command goes after --.
    out
        Folder for submission-STORE.md and submission-STORE.json. Default: print the Markdown.
    json
        Print the JSON document instead of the Markdown.
    force
        Overwrite existing files whose contents differ.
    """
    check_seconds(timeout, "--timeout")
    if out is not None:
        check_writable(Path(out) / f"submission-{store}.json", "--out")
    made = make_submission(_ask(target, command, timeout), find_store(store))
    if out is not None:
        _write(Path(out), made, force=force)
    if out is None or json:
        write = as_json if json else as_markdown
        sys.stdout.write(write(made))
    return int(made.has_errors)


def _ask(target: Sequence[str], command: list[str] | None, timeout: float) -> Listing:
    words = [*target, *(command or ())]
    targets = targets_of(target, command, "submit")
    if len(targets) > 1:
        names = ", ".join(target.name for target in targets)
        fix = f"Name one: {words[0]}#NAME."
        raise UsageError(f"sayso submit accepts one server, got {names}", fix=fix)
    with working("Listing tools …"):
        (found,) = anyio.run(read_lint_input, targets, source_of(words, targets), timeout)
    if isinstance(found, SaysoError):
        raise found
    return found.listing


def _write(folder: Path, made: Submission, *, force: bool) -> None:
    """Write both documents; overwrite changed ones only with `force`."""
    texts = {
        folder / f"submission-{made.store.name}.md": as_markdown(made),
        folder / f"submission-{made.store.name}.json": as_json(made),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        changed = [path for path, text in texts.items() if _differs(path, text)]
        if changed and not force:
            fix = "Use another folder with --out, or overwrite it with --force."
            raise UsageError("the file exists and differs", where=str(changed[0]), fix=fix)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        what = f"the documents cannot be written: {error.strerror}"
        raise UsageError(what, where=str(folder), fix="Check its permissions.") from error
    for path in texts:
        say(plain(f"wrote {path}"))


def _differs(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() != text.encode()
