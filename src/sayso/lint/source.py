"""Analysis of Python source for the rules, and fixes in Python source."""

from collections.abc import Iterable, Mapping
from typing import Final

from sayso.intent import HINT_NAMES, WIRE_NAMES, HintName
from sayso.lint.rule import Finding
from sayso.lint.subject import Deed, Handler
from sayso.source import Handler as SourceHandler
from sayso.source import Patch, annotate_source, read_handlers

_HINTS: Final[Mapping[str, HintName]] = {WIRE_NAMES[name]: name for name in HINT_NAMES}


def handlers_in(files: Mapping[str, str]) -> Mapping[str, Handler]:
    """Return the handlers of the tools that these files define, by tool name.

    If two tools have the same name, the first counts, so pass the server's own file first. Raises
    `ConfigError` if a file is not valid Python.
    """
    handlers: dict[str, Handler] = {}
    for handler in read_handlers(files):
        handlers.setdefault(handler.name, _handler(handler))
    return handlers


def _handler(handler: SourceHandler) -> Handler:
    deeds = [
        Deed(_described(effect.what, effect.chain), effect.file, effect.line, against)
        for effect in handler.effects
        for against in HINT_NAMES
        if against in effect.against
    ]
    return Handler(handler.file, handler.line, tuple(deeds))


def _described(what: str, chain: tuple[str, ...]) -> str:
    callers = " > ".join(chain[1:])
    return f"{what}, via {callers}".removesuffix(", via ")


def fix_source(file: str, data: bytes, findings: Iterable[Finding]) -> Patch:
    """Return a patch that adds missing hints and titles to a Python file.

    Edits that would replace or remove something are skipped. Raises like `annotate_source`.
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
