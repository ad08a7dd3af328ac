"""Feedback in an error's text: allowed file endings, choices, bounds, missing arguments."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.verify.inputs.flattener import is_list, is_table
from sayso.verify.inputs.prose import named_values

_LONGEST: Final = 1500
_ENDING: Final = re.compile(r"(?<![\w/.])\*?(\.[A-Za-z][A-Za-z0-9]{1,5})\b(?![\w/(])")
_ADDED: Final = re.compile(r"\.\w{1,5}(\.[a-z][a-z0-9]{1,5})\b")
"""The ending that a server appended to the name in a call: `notes.txt.docx`."""
_LEAST: Final = re.compile(
    r"(?:at least|>=|≥|greater than or equal to|minimum(?: is| of|:)?)\s*(-?\d{1,9})\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"(?:greater than|more than|larger than|>)\s*(-?\d{1,9})\b", re.IGNORECASE
)
_POSITIVE: Final = re.compile(r"\bpositive\b", re.IGNORECASE)
_LACKS: Final = re.compile(
    r"\b(?:required?|requires|missing|provide[ds]?|specif(?:y|ied)|suppl(?:y|ied)|needs?|needed|"
    r"must be (?:given|set)|given|expects?|without)\b",
    re.IGNORECASE,
)
_SET: Final = re.compile(r"\b(\w+)['\"`]?\s*(?:=|:| to )\s*[`'\"]?(true|false)\b", re.IGNORECASE)
_PASS: Final = re.compile(r"\b(\w+)=(['\"`])([^'\"`\n]{1,40})\2")
_SETTINGS: Final = {"true": True, "false": False}
_QUOTED: Final = re.compile(r"['\"`]([^'\"`\n]{2,40})['\"`]")
_FOLDER: Final = re.compile(
    r"not a (?:valid |existing )?(?:directory|folder)|ENOTDIR|NotADirectory|"
    r"(?:must be|expected|requires|needs|give) (?:an? )?(?:existing )?(?:directory|folder)|"
    r"(?:directory|folder)(?: path)? (?:is required|not found|does not exist)",
    re.IGNORECASE,
)
_FILE: Final = re.compile(
    r"(?<!not )is a (?:directory|folder)|EISDIR|IsADirectory|"
    r"not a (?:valid |regular |existing )*file|(?:must be|expected) (?:an? )?(?:existing )?file",
    re.IGNORECASE,
)
_ABSOLUTE: Final = re.compile(
    r"must be (?:an? )?(?:absolute|full)|(?:absolute|full) (?:file ?)?paths? (?:is|are) required|"
    r"not an absolute path|(?:provide|use|expected) an? absolute",
    re.IGNORECASE,
)
_RELATIVE: Final = re.compile(
    r"must (?:not )?be (?:an? )?(?:relative|absolute)|relative path|absolute paths?\b|path segment|"
    r"path separator|travers|escape|outside|not within|allowed director|slash|"
    r"invalid (?:\w+ )?(?:path|file ?name|name|parameter|character)|not allowed|denied",
    re.IGNORECASE,
)
_NAME_OF_FILE: Final = re.compile(r"(?<![\w./-])[\w-]{1,40}\.[a-z]{2,5}(?![\w/])")
_GIT: Final = re.compile(r"\bgit repo", re.IGNORECASE)
_LONG: Final = 3
_LEAST_NAME: Final = 6
"""The minimum length of a tool's name to search for: a shorter name may be an everyday word."""
_MOST_TOOLS: Final = 2
_LEAST_VALUE: Final = 2
"""The minimum length of a value to search for: a single letter occurs in any text."""


@dataclass(frozen=True, slots=True)
class ErrorFeedback:
    """The feedback in one error. `least` is the lowest number that the error allows."""

    text: str
    endings: tuple[str, ...]
    values: tuple[str, ...]
    least: int | None
    is_lacking: bool
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def wants_folder(self) -> bool:
        """Return whether the error asks for a folder."""
        return _FOLDER.search(self.text) is not None

    @property
    def files(self) -> list[str]:
        """Return the names of files that the error mentions, such as `package.json`."""
        names = _NAME_OF_FILE.findall(self.text)
        if _GIT.search(self.text):
            names.append(".git")
        return names

    @property
    def wants_file(self) -> bool:
        """Return whether the error asks for a file that is not a folder."""
        return _FILE.search(self.text) is not None

    @property
    def wants_absolute(self) -> bool:
        """Return whether the error asks for an absolute path."""
        return _ABSOLUTE.search(self.text) is not None

    @property
    def wants_relative(self) -> bool:
        """Return whether the error may refuse an absolute path: a file name may do."""
        return _RELATIVE.search(self.text) is not None and not self.wants_absolute

    def names(self, name: str) -> bool:
        """Return whether the error names a parameter, in the singular or the plural."""
        if len(name) > _LONG:
            name = name.removesuffix("s")
        pattern = re.escape(name)
        return re.search(rf"(?<!\w){pattern}s?(?!\w)", self.text) is not None

    def blames(self, value: Any) -> bool:
        """Return whether the error quotes a value, a part of it, or an item of a list."""
        if isinstance(value, list):
            return any(self.blames(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(value, str) or len(value) < _LEAST_VALUE:
            return False
        return value in self.text or bool(self.swapped(value))

    def swapped(self, value: str) -> list[str]:
        """Return the value with the part that the error quotes replaced by each offered value."""
        quoted = [
            quote for quote in _QUOTED.findall(self.text) if quote in value and quote != value
        ]
        return [
            value.replace(part, other)
            for part in quoted[:1]
            for other in self.values
            if other not in value
        ][:2]


def read_feedback(text: str) -> ErrorFeedback:
    """Read the feedback in an error.

    >>> read_feedback("'a.txt' must be a workbook (.xlsx, .xlsm)").endings
    ('.xlsx', '.xlsm')
    >>> read_feedback("start: must be at least 1").least
    1
    """
    text = _prose_of(text)[:_LONGEST]
    found = [*_ENDING.findall(text), *_ADDED.findall(text)]
    endings = tuple(dict.fromkeys(ending.casefold() for ending in found))
    settings = tuple((name, _SETTINGS[value.casefold()]) for name, value in _SET.findall(text))
    settings += tuple((name, value) for name, _, value in _PASS.findall(text))
    is_lacking = bool(_LACKS.search(text))
    return ErrorFeedback(text, endings, named_values(text), _least(text), is_lacking, settings)


def _prose_of(text: str) -> str:
    """Return the sentences of an error that is JSON, without its keys; any other text as it is."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return "\n".join(_sentences(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _sentences(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_table(value):
        for inner in value.values():
            yield from _sentences(inner)
    elif is_list(value):
        for inner in value:
            yield from _sentences(inner)


def _least(text: str) -> int | None:
    if found := _LEAST.search(text):
        return int(found[1])
    if found := _MORE.search(text):
        return int(found[1]) + 1
    if _POSITIVE.search(text):
        return 1
    return None


def named_tools(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the tools of `names` that errors mention. They may have to be called first.

    >>> named_tools(["No project. Call set_project first."], ["set_project", "list"])
    ['set_project']
    """
    joined = "\n".join(text[:_LONGEST] for text in texts)
    return [
        name
        for name in names
        if len(name) >= _LEAST_NAME and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", joined)
    ][:_MOST_TOOLS]
