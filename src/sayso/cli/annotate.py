"""`sayso infer --write`: add inferred hints to a server's source."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sayso.catalog import derive_title
from sayso.cli.lint_input import read_source
from sayso.cli.opinions import Guesser
from sayso.cli.terminal import check_agrees, out, print_document, tell
from sayso.cli.tool_reading import Answer, name_of
from sayso.clients import read, replace
from sayso.errors import SaysoError
from sayso.infer import completed, undeclared
from sayso.intent import HINT_NAMES, WIRE_NAMES, Guess, HintName, Hints, read_tool
from sayso.lint import choose, find_profile, lint, make_listing
from sayso.schema import plain_code
from sayso.styled import Text

if TYPE_CHECKING:
    from sayso.source import Patch

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}

_AGAINST: Final = ("description-contradicts-hint", "handler-contradicts-hint")

Guesses = Mapping[str, Mapping[HintName, Guess]]


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A guess that is not written, and the evidence against it."""

    tool: str
    hint: HintName
    why: str


def annotate(
    path: str,
    found: Answer | SaysoError,
    guesser: Guesser,
    *,
    is_json: bool,
    is_dry: bool,
    is_sure: bool,
) -> int:
    """Show the change of the file at `path`, and write it if the person agrees.

    With `is_json`, it does not ask, and writes the file only with `is_sure`. Raises
    `DeniedError` if the person declines, and `ConfigError` if the file cannot be changed.
    """
    from sayso.source import annotate_source

    if isinstance(found, SaysoError):
        raise found
    file = Path(path).resolve()
    data = read(file, is_strict=False)
    tools = {
        name: cast("Mapping[str, Any]", tool) for tool in found.entries if (name := name_of(tool))
    }
    missing = {name: undeclared(tool, guesser(tool)) for name, tool in tools.items()}
    guesses = {name: hints for name, hints in missing.items() if hints}
    needed = {name: completed(tool, guesses.get(name, {})) for name, tool in tools.items()}
    whole = {name: hints for name, hints in needed.items() if hints}
    doubts = _doubts(path, found, whole)
    guesses = _settled(guesses, whole, doubts)
    hints: dict[str, dict[HintName, bool]] = {
        tool: {name: guess.value for name, guess in claims.items()}
        for tool, claims in guesses.items()
    }
    patch = annotate_source(path, data, hints, inner_titles=_titles(tools, guesses))
    is_written = bool(patch.added) and not is_dry and (is_sure or not is_json)
    if not is_json:
        _show(patch, guesses, doubts)
    if is_written and not is_sure:
        check_agrees(f"Change {path}?")
    if is_written:
        replace(file, patch.before, patch.after, is_strict=False)
    if is_json:
        print_document(_document(patch, guesses, doubts, is_written=is_written))
    elif is_written:
        tell(f"Done. Review the new hints in {path} like a colleague's change.")
    return 0


def _settled(guesses: Guesses, whole: Guesses, doubts: Sequence[_Doubt]) -> Guesses:
    doubted = {doubt.tool for doubt in doubts}
    certain = {name: hints for name, hints in whole.items() if name not in doubted}
    rest = {name: hints for name, hints in guesses.items() if name in doubted}
    return {**certain, **_without(rest, doubts)}


def _titles(tools: Mapping[str, Mapping[str, Any]], guesses: Guesses) -> dict[str, str]:
    """Return a title for each tool that gets hints, or declares hints without a title."""
    titles: dict[str, str] = {}
    for name, tool in tools.items():
        intent = read_tool(tool).intent
        if name in guesses or (intent.title is None and intent.hints != Hints()):
            titles[name] = intent.title or derive_title(name)
    return titles


def _doubts(path: str, found: Answer, guesses: Guesses) -> list[_Doubt]:
    """Return the guesses that the linter would reject if they were declared."""
    handlers = None
    with contextlib.suppress(SaysoError):  # the patch can read more encodings
        handlers = read_source(path).handlers
    entries = [_annotated(tool, guesses) for tool in found.entries]
    listing = make_listing(path, entries, handlers=handlers)
    names: Mapping[str, HintName] = {WIRE_NAMES[name]: name for name in HINT_NAMES}
    doubts: dict[tuple[str, HintName], str] = {}
    for finding in lint(
        listing, choose(find_profile("spec"), select=_AGAINST), allows=False
    ).findings:
        hint = names[str(finding.at[-1])]
        if hint in guesses.get(finding.tool, {}):
            doubts.setdefault((finding.tool, hint), finding.message.partition(", but ")[2])
    return [_Doubt(tool, hint, why) for (tool, hint), why in doubts.items()]


def _annotated(tool: object, guesses: Guesses) -> object:
    hints = guesses.get(name_of(tool) or "")
    if not hints:
        return tool
    raw = cast("Mapping[str, Any]", tool)
    declared: Mapping[str, Any] = {}
    if isinstance(raw.get("annotations"), dict):
        declared = raw["annotations"]
    new = {WIRE_NAMES[name]: guess.value for name, guess in hints.items()}
    return {**raw, "annotations": {**declared, **new}}


def _without(guesses: Guesses, doubts: Sequence[_Doubt]) -> Guesses:
    doubted = {(doubt.tool, doubt.hint) for doubt in doubts}
    certain: Guesses = {
        tool: {name: guess for name, guess in hints.items() if (tool, name) not in doubted}
        for tool, hints in guesses.items()
    }
    return {tool: hints for tool, hints in certain.items() if hints}


def _show(patch: "Patch", guesses: Guesses, doubts: Sequence[_Doubt]) -> None:
    for line in patch.diff:
        out().print(Text(plain_code(line), _COLOURS.get(line[:1], "")))
    for addition in patch.added:
        if addition.inner_title is not None:
            tell(f"{addition.name}: title “{addition.inner_title}”")
        for name in addition.hints:
            guess = guesses[addition.name][name]
            word = "yes" if guess.value else "no"
            tell(f"{addition.name}: {name} {word}, because {'; '.join(guess.reasons)}")
    for doubt in doubts:
        tell(f"{doubt.tool}: {doubt.hint} stays undeclared, because {doubt.why}")
    for omission in patch.left:
        tell(f"{omission.name}: unchanged, {omission.why}")
    if not patch.added:
        tell(f"Nothing to write to {patch.file}.")


def _document(
    patch: "Patch", guesses: Guesses, doubts: Sequence[_Doubt], *, is_written: bool
) -> dict[str, Any]:
    return {
        "file": patch.file,
        "written": is_written,
        "diff": "\n".join(patch.diff),
        "added": [
            {
                "name": addition.name,
                "line": addition.line,
                "title": addition.inner_title,
                "hints": {hint: asdict(guesses[addition.name][hint]) for hint in addition.hints},
            }
            for addition in patch.added
        ],
        "doubted": [{"name": doubt.tool, "hint": doubt.hint, "why": doubt.why} for doubt in doubts],
        "left": [{"name": omission.name, "why": omission.why} for omission in patch.left],
    }
