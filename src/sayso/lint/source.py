"""What a server's Python source tells the rules, and the edits of findings in that source."""

from collections.abc import Iterable, Mapping
from typing import Final

from sayso.intent import HINT_NAMES, WIRE_NAMES, HintName
from sayso.lint.rule import Finding
from sayso.lint.subject import Deed, Handler
from sayso.source import Handler as SourceHandler
from sayso.source import Patch, annotate_source, read_handlers

_HINTS: Final[Mapping[str, HintName]] = {WIRE_NAMES[name]: name for name in HINT_NAMES}


def handlers_in(files: Mapping[str, str]) -> Mapping[str, Handler]:
    """The handlers of the tools that some files define, by tool, with what each surely does.

    Of two with one name the first counts: name the server's own file first. Raises `ConfigError`
    for a file that is not Python.
    """
    found: dict[str, Handler] = {}
    for handler in read_handlers(files):
        found.setdefault(handler.name, _handler(handler))
    return found


def _handler(found: SourceHandler) -> Handler:
    deeds = [
        Deed(_said(effect.what, effect.chain), effect.file, effect.line, against)
        for effect in found.effects
        for against in HINT_NAMES
        if against in effect.against
    ]
    return Handler(found.file, found.line, tuple(deeds))


def _said(what: str, chain: tuple[str, ...]) -> str:
    way = " > ".join(chain[1:])
    return f"{what}, by way of {way}".removesuffix(", by way of ")


def fix_source(file: str, data: bytes, findings: Iterable[Finding]) -> Patch:
    """The edits of findings in a Python file: hints and titles that are missing.

    What an edit would replace or take away is the author's own, and stays. Raises what
    `annotate_source` raises.
    """
    hints: dict[str, dict[HintName, bool]] = {}
    titles: dict[str, str] = {}
    for finding in findings:
        for edit in finding.edits:
            if edit.path == ("title",) and isinstance(edit.value, str):
                titles[finding.tool] = edit.value
            elif edit.path[0] == "annotations" and isinstance(edit.value, bool):
                hints.setdefault(finding.tool, {})[_HINTS[edit.path[1]]] = edit.value
    return annotate_source(file, data, hints, titles=titles)
