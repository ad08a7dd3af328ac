"""`sayso lint`: what is wrong with the tools of a server, told in the form that was asked for."""

import difflib
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio

from sayso.cli.address import check_seconds
from sayso.cli.lint_input import Linted, read_linted, source_of
from sayso.cli.options import NOTHING, Command, Given, Json, Many, TargetWord, Timeout, targets_of
from sayso.cli.receipts import read_vouched
from sayso.cli.surface import errors_in
from sayso.cli.terminal import print_errors, working
from sayso.cli.writable import write_text
from sayso.errors import SaysoError, UsageError
from sayso.lint import Choice, Report, Severity, choose, find_profile
from sayso.lint import lint as lint_listing
from sayso.schema import plain_code

_ROUNDS = 5


def lint(  # noqa: PLR0913 - each is an option of its own
    *target: TargetWord,
    profile: str = "spec",
    format: Literal["text", "json", "sarif", "github", "junit"] = "text",  # noqa: A002 - a flag's name
    json: Json = False,
    select: Many = None,
    ignore: Many = None,
    fail_on: Literal["error", "warning", "note"] = "error",
    fix: bool = False,
    diff: bool = False,
    baseline: str | None = None,
    write_baseline: bool = False,
    no_allow: bool = False,
    given: Given = NOTHING,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Say what is wrong with the tools of a server; calls none of them.

    Parameters
    ----------
    profile
        spec, strict, openai or anthropic.
    format
        How to tell it: text, json, sarif, github (annotations) or junit.
    select
        Only these rules, by code, beginning of a code, or name; several with commas.
    ignore
        Not these rules.
    fail_on
        From how loud a finding on the exit code is 1: error, warning or note.
    fix
        Mend what is mechanical in a saved list or in server.py, and show the difference.
    diff
        Show what --fix would do, and write nothing, with --fix or without.
    baseline
        A file with findings that are known, which are not told again.
    write_baseline
        Write all findings of now into that file.
    no_allow
        Tell what the tools' authors allow as well.
    """
    form = _form(format, is_json=json)
    choice = choose(find_profile(profile), select=_words(select), ignore=_words(ignore))
    writes = fix and not diff
    found = _ask(target, command, timeout, given)
    listed = _linted(found)
    if fix or diff:
        listed = [_mended(server, choice, writes=writes, allows=not no_allow) for server in listed]
    if writes and any(server.python for server in listed):
        # Its source was rewritten, so its tools are different.
        found = _ask(target, command, timeout, given)
        listed = _linted(found)
    reports = [_report(server, choice, allows=not no_allow, mended=writes) for server in listed]
    reports = _past(reports, choice, baseline, writes=write_baseline)
    _print(reports, form, profile)
    errors = errors_in(found)
    if errors:
        return print_errors(errors, is_json=form != "text")
    return int(any(report.reaches(Severity(fail_on)) for report in reports))


def _form(said: str, *, is_json: bool) -> str:
    if is_json and said not in ("text", "json"):
        raise UsageError(f"--json and --format {said} ask for two forms", fix="Keep one of them.")
    return "json" if is_json else said


def _ask(
    target: Sequence[str], command: list[str] | None, timeout: float, given: Given
) -> list[Linted | SaysoError]:
    check_seconds(timeout, "--timeout")
    targets = targets_of(target, command, "lint")
    vouched = read_vouched(given)
    source = source_of([*target, *(command or ())], targets)
    with working("Asking for the tools …"):
        return anyio.run(read_linted, targets, source, timeout, vouched)


def _linted(found: Sequence[Linted | SaysoError]) -> list[Linted]:
    return [answer for answer in found if isinstance(answer, Linted)]


def _words(given: list[str] | None) -> list[str]:
    return [word for text in given or () for word in text.split(",") if word.strip()]


def _report(server: Linted, choice: Choice, *, allows: bool, mended: bool = False) -> Report:
    is_mendable = not mended and (server.saved is not None or server.python is not None)
    return lint_listing(
        server.listing, choice, places=server.places, allows=allows, is_fixable=is_mendable
    )


def _print(reports: Sequence[Report], name: str, profile: str) -> None:
    """Print the reports; without any, only for programs."""
    from sayso.lint import FORMATS

    if reports or name != "text":
        sys.stdout.write(FORMATS[name](reports, find_profile(profile)))


def _past(
    reports: list[Report], choice: Choice, baseline: str | None, *, writes: bool
) -> list[Report]:
    """Return the reports without what a baseline knows, which is written first if it `writes`."""
    if baseline is None and writes:
        raise UsageError("--write-baseline needs a file", fix="Name it with --baseline FILE.")
    if baseline is None:
        return reports
    from sayso.lint import read_baseline, without_known, write_baseline
    from sayso.settings import read_json

    if writes:
        write_text(
            Path(baseline),
            write_baseline(finding for report in reports for finding in report.findings),
        )
    known = read_baseline(read_json(baseline).value, baseline)
    looked = {rule.code for rule in choice.rules}
    return [without_known(report, known, looked) for report in reports]


def _mended(server: Linted, choice: Choice, *, writes: bool, allows: bool) -> Linted:
    from sayso.lint import fix_saved
    from sayso.settings import parse_json

    saved = server.saved
    if server.python is not None:
        _mend_source(server.python, _report(server, choice, allows=allows), writes=writes)
        return server
    if saved is None:
        what = "--fix writes only into a saved list (tools.json) or a Python file"
        fix = "Save what the server answers to tools/list, or mend its source."
        raise UsageError(what, where=server.listing.name, fix=fix)
    text = saved.text
    for _ in range(_ROUNDS):
        findings = _report(server, choice, allows=allows).findings
        fixed = fix_saved(parse_json(saved.path, text), text, saved.steps, findings)
        if fixed == text:
            break
        text = fixed
        server = server.with_text(fixed)
    _show(saved.text, text, server.listing.name)
    if writes and text != saved.text:
        _replace(Path(saved.path), saved.text, text)
    return server


def _replace(file: Path, before: str, after: str) -> None:
    """Replace a list in one step, if it still is what was read; its byte order mark stays."""
    from sayso.clients import read, replace

    texts = (before.encode(), after.encode())
    if read(file, is_strict=False).startswith(BOM_UTF8):
        texts = (BOM_UTF8 + texts[0], BOM_UTF8 + texts[1])
    replace(file.resolve(), *texts, is_strict=False)


def _mend_source(path: str, report: Report, *, writes: bool) -> None:
    from sayso.clients import read, replace
    from sayso.lint import fix_source

    file = Path(path).resolve()
    patch = fix_source(path, read(file, is_strict=False), report.findings)
    lines = [
        *patch.diff,
        *(f"{omission.name}: left as it is, {omission.why}" for omission in patch.left),
    ]
    sys.stderr.writelines(f"{plain_code(line)}\n" for line in lines)
    if writes and patch.added:
        replace(file, patch.before, patch.after, is_strict=False)


def _show(before: str, after: str, name: str) -> None:
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), f"{name} (as it is)", f"{name} (mended)", lineterm=""
    )
    sys.stderr.writelines(f"{plain_code(line)}\n" for line in lines)
