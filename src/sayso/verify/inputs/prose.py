r"""Reading of prose: a parameter's line in a tool's description, and the values in a text.

>>> named_values("Which to list: 'local', 'remote' or 'all'.")
('local', 'remote', 'all')
"""

import re
from collections.abc import Iterator
from typing import Final

_LONGEST: Final = 20_000
_MOST: Final = 8
_QUOTED: Final = re.compile(r"(?<!\w)(['\"`])([^'\"`\n]{1,40})\1(?!\w)|“([^”\n]{1,40})”")
_EXAMPLE: Final = re.compile(
    r"(?:e\.g\.|for example|such as|examples?:|defaults? (?:to|is)|default:)[,:]?\s+"
    r"['\"`]?([^\s,;()'\"`]{1,40})",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(
    r"\b(?:one of|options|allowed|choices|valid|available|supported|expected|must be|either)\b"
    r"[^:\n\[({]{0,40}[:\[({]\s*([^\n\])}]{1,300})",
    re.IGNORECASE,
)
_PIPED: Final = re.compile(r"(?<![\w|])\w+(?:\s*\|\s*\w+)+")
_SERIES: Final = re.compile(r"[\w-]{1,30}(?:,\s+[\w-]{1,30}){1,8},?\s+(?:or|and)\s+[\w-]{1,30}")
_SPLIT: Final = re.compile(r"\s*(?:,|;|\||/|\bor\b|\band\b)\s*")
_WORDS: Final = re.compile(r"[\w#.+-]+(?: [\w#.+-]+){0,2}")


def said_of(about: str, name: str) -> str:
    r"""Return the text of a parameter's line in a tool's description, or "".

    >>> said_of("Args:\n    unit (str): 'metric' or 'imperial'", "unit")
    "'metric' or 'imperial'"
    """
    line = re.search(
        rf"^[\s*•@:-]*(?:param(?:eter)?\s+)?[`'\"*]*{re.escape(name)}[`'\"*]*"
        rf"[ \t]*(?:\([^)\n]*\))?[ \t]*(?::| - | – )[`'\"*]*[ \t]*(\S.*)$",
        about[:_LONGEST],
        re.MULTILINE,
    )
    if line is None:
        return ""
    return line[1].strip()


def enumerated(text: str) -> tuple[str, ...]:
    """Return the words that a text enumerates, such as the kinds of things that a tool makes.

    >>> enumerated("Create a new issue, todo, or diary entry.")
    ('issue', 'todo', 'diary')
    """
    found = (match[0] for match in _SERIES.finditer(text[:_LONGEST]))
    words = (word for series in found for word in re.findall(r"[\w-]+", series))
    return tuple(dict.fromkeys(word for word in words if word not in ("or", "and")))[:_MOST]


def named_values(text: str) -> tuple[str, ...]:
    """Return the values that a text lists, quotes or gives as an example, each once."""
    return tuple(dict.fromkeys(name for name in _named(text[:_LONGEST]) if name))[:_MOST]


def _named(text: str) -> Iterator[str]:
    for listed in _LISTED.findall(text):
        yield from _parts(listed)
    for listed in _PIPED.findall(text):
        yield from _parts(listed)
    for _, quoted, curly in _QUOTED.findall(text):
        yield (quoted or curly).strip()
    for example in _EXAMPLE.findall(text):
        yield example.rstrip(".:")


def _parts(listed: str) -> Iterator[str]:
    parts = [part.strip("'\"`“” .") for part in _SPLIT.split(listed)]
    if len(parts) > 1:
        yield from (part for part in parts if _WORDS.fullmatch(part))
