"""`sayso lint` and `sayso rule`: problems of a server's tools, and the linter's rules."""

import difflib
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio

from sayso.cli.address import check_seconds
from sayso.cli.lint_input import LintInput, read_lint_input, source_of
from sayso.cli.options import (
    NO_RECEIPTS,
    Command,
    Json,
    Many,
    ReceiptOptions,
    TargetWord,
    Timeout,
    targets_of,
)
from sayso.cli.output_files import write_text
from sayso.cli.receipts import read_trusted_receipts
from sayso.cli.terminal import make_table, out, print_document, print_errors, working
from sayso.cli.tool_reading import errors_in
from sayso.errors import SaysoError, UsageError
from sayso.lint import (
    Choice,
    Report,
    Severity,
    all_rules,
    choose,
    find_profile,
    find_rule,
    page_of,
    to_dict,
)
from sayso.lint import lint as lint_listing
from sayso.schema import plain_code

_ROUNDS = 5


def lint(  # noqa: PLR0913 - one parameter per option
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
    given: ReceiptOptions = NO_RECEIPTS,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Check the hints, texts and schemas of a server's tools; calls none of them.

    Parameters
    ----------
    profile
        The set of rules: spec, strict, openai or anthropic.
    format
        Output format: text, json, sarif, github (annotations) or junit.
    select
        Check only these rules: codes, prefixes of codes, or names, separated by commas.
    ignore
        Skip these rules.
    fail_on
        Exit with 1 if a finding has at least this severity: error, warning or note.
    fix
        Apply safe fixes to a saved list or to server.py, and show the difference.
    diff
        Show the fixes without writing them.
    baseline
        A file with known findings, which sayso lint does not report again.
    write_baseline
        Write all current findings to the baseline.
    no_allow
        Also report findings that a tool or its source code allows.
    """
    form = _form(format, is_json=json)
    choice = choose(find_profile(profile), select=_words(select), ignore=_words(ignore))
    writes = fix and not diff
    found = _ask(target, command, timeout, given)
    listed = _linted(found)
    if fix or diff:
        listed = [_fixed(server, choice, writes=writes, allows=not no_allow) for server in listed]
    if writes and any(server.python for server in listed):
        # The fix changed the source, so list the tools again.
        found = _ask(target, command, timeout, given)
        listed = _linted(found)
    reports = [_report(server, choice, allows=not no_allow, fixed=writes) for server in listed]
    reports = _without_known(reports, choice, baseline, writes=write_baseline)
    _print(reports, form, profile)
    errors = errors_in(found)
    if errors:
        return print_errors(errors, is_json=form != "text")
    return int(any(report.reaches(Severity(fail_on)) for report in reports))


def rule(code: str | None = None, *, json: Json = False) -> None:
    """Show a linter rule by its code or name; without one, list them all.

    Parameters
    ----------
    code
        For example SS101, or no-hints.
    """
    rules = all_rules() if code is None else (find_rule(code),)
    if json:
        print_document({"rules": [to_dict(entry) for entry in rules]})
        return
    if code is not None:
        out().print(page_of(rules[0]))
        return
    table = make_table("code", "name", "", "default", "finding")
    for entry in rules:
        default = "on" if entry.is_default else "off"
        table.add_row(entry.code, entry.name, str(entry.severity), default, entry.summary)
    out().print(table)


def _form(name: str, *, is_json: bool) -> str:
    if is_json and name not in ("text", "json"):
        raise UsageError(f"--json and --format {name} exclude each other", fix="Remove one.")
    return "json" if is_json else name


def _ask(
    target: Sequence[str], command: list[str] | None, timeout: float, given: ReceiptOptions
) -> list[LintInput | SaysoError]:
    check_seconds(timeout, "--timeout")
    targets = targets_of(target, command, "lint")
    trusted = read_trusted_receipts(given)
    source = source_of([*target, *(command or ())], targets)
    with working("Listing tools …"):
        return anyio.run(read_lint_input, targets, source, timeout, trusted)


def _linted(found: Sequence[LintInput | SaysoError]) -> list[LintInput]:
    return [answer for answer in found if isinstance(answer, LintInput)]


def _words(given: list[str] | None) -> list[str]:
    return [word for text in given or () for word in text.split(",") if word.strip()]


def _report(server: LintInput, choice: Choice, *, allows: bool, fixed: bool = False) -> Report:
    is_fixable = not fixed and (server.saved is not None or server.python is not None)
    return lint_listing(
        server.listing, choice, places=server.places, allows=allows, is_fixable=is_fixable
    )


def _print(reports: Sequence[Report], name: str, profile: str) -> None:
    """Print the reports; without any, the text format prints nothing."""
    from sayso.lint import FORMATS

    if reports or name != "text":
        sys.stdout.write(FORMATS[name](reports, find_profile(profile)))


def _without_known(
    reports: list[Report], choice: Choice, baseline: str | None, *, writes: bool
) -> list[Report]:
    """Remove a baseline's findings from the reports; with `writes`, first write the baseline."""
    if baseline is None and writes:
        raise UsageError("--write-baseline requires --baseline FILE")
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
    checked = {rule.code for rule in choice.rules}
    return [without_known(report, known, checked) for report in reports]


def _fixed(server: LintInput, choice: Choice, *, writes: bool, allows: bool) -> LintInput:
    from sayso.lint import fix_saved
    from sayso.settings import parse_json

    saved = server.saved
    if server.python is not None:
        _fix_source(server.python, _report(server, choice, allows=allows), writes=writes)
        return server
    if saved is None:
        what = "--fix requires a saved list (tools.json) or a Python file"
        fix = "Save the server's tools/list response, or edit its source."
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
    """Replace an unchanged saved list atomically, and keep its byte order mark."""
    from sayso.clients import read, replace

    texts = (before.encode(), after.encode())
    if read(file, is_strict=False).startswith(BOM_UTF8):
        texts = (BOM_UTF8 + texts[0], BOM_UTF8 + texts[1])
    replace(file.resolve(), *texts, is_strict=False)


def _fix_source(path: str, report: Report, *, writes: bool) -> None:
    from sayso.clients import read, replace
    from sayso.lint import fix_source

    file = Path(path).resolve()
    patch = fix_source(path, read(file, is_strict=False), report.findings)
    lines = [
        *patch.diff,
        *(f"{omission.name}: unchanged, {omission.why}" for omission in patch.left),
    ]
    sys.stderr.writelines(f"{plain_code(line)}\n" for line in lines)
    if writes and patch.added:
        replace(file, patch.before, patch.after, is_strict=False)


def _show(before: str, after: str, name: str) -> None:
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), f"{name} (before)", f"{name} (fixed)", lineterm=""
    )
    sys.stderr.writelines(f"{plain_code(line)}\n" for line in lines)
