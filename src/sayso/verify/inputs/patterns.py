"""Texts that fit a regular expression and a range of lengths."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PLAIN: Final = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)
_LOOSE: Final = re.compile(r"(?P<one>\[(?:[^\]\\]|\\.)+\]|\\[wdsWDS]|\.)(?P<many>[+*])\$?")
"""A pattern that is one repeated character class, such as `[a-z]+`."""
_CLASSES: Final = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": " "}


def pattern_of(pattern: str, shortest: int, longest: int) -> "SearchStrategy[str] | None":
    """Return a strategy for texts that fit `pattern`, or `None` if Python cannot compile it.

    JSON Schema's patterns are ECMAScript's. They match anywhere in a text; `$` is its very end.
    """
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    compiled = compile_pattern(_bounded(pattern, shortest, longest))
    if compiled is None:
        return None
    search = compile_pattern(pattern)

    def is_fit(text: str) -> bool:
        return shortest <= len(text) <= longest and search is not None and bool(search.search(text))

    try:
        plain = st.from_regex(compiled, fullmatch=True, alphabet=_PLAIN)
        plain.validate()
    except Exception:  # noqa: BLE001 - the pattern needs letters outside of _PLAIN
        plain = st.from_regex(compiled, fullmatch=True)
    return plain.filter(is_fit)


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""Compile an ECMAScript pattern for Python, or return `None` if that is impossible."""
    text = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    text = re.sub(r"\\[pP]\{[^}]*\}", "[a-zA-Z]", text).replace("\\/", "/")
    text = _without_shorts(text)
    text = re.sub(r"(?<!\\)\$(?=\)|\||$)", r"\\Z", text)
    try:
        return re.compile(text, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _without_shorts(text: str) -> str:
    r"""Expand `\d`, `\w` and `\s` to ASCII, since hypothesis loads all of Unicode for them."""
    found: list[str] = []
    is_inside = False
    for part in re.findall(r"\\.|.", text, re.DOTALL):
        if part in ("[", "]"):
            is_inside = part == "["
        written = _CLASSES.get(part, part)
        if part in _CLASSES and not is_inside:
            written = f"[{written}]"
        found.append(written)
    return "".join(found)


def _bounded(pattern: str, shortest: int, longest: int) -> str:
    """Replace `+` or `*` by the bounds, if the pattern is one repeated character class."""
    match = _LOOSE.fullmatch(pattern.removeprefix("^"))
    if match is None:
        return pattern
    low = max(shortest, int(match["many"] == "+"))
    return f"^{match['one']}{{{low},{max(low, min(longest, low + 20))}}}$"
