"""Texts that fit a regular expression, within bounds of length."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PLAIN: Final = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)
_LOOSE: Final = re.compile(r"(?P<one>\[(?:[^\]\\]|\\.)+\]|\\[wdsWDS]|\.)(?P<many>[+*])\$?")
"""One class of characters, over and over: what most patterns end with."""
_CLASSES: Final = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": " "}


def pattern_of(pattern: str, least: int, most: int) -> "SearchStrategy[str] | None":
    """A strategy for texts that fit `pattern`, `None` where Python cannot read it.

    JSON Schema's patterns are ECMAScript's and match anywhere; `$` there is the very end.
    """
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    compiled = compile_pattern(_bounded(pattern, least, most))
    if compiled is None:
        return None
    search = compile_pattern(pattern)

    def is_fit(text: str) -> bool:
        return least <= len(text) <= most and search is not None and bool(search.search(text))

    try:
        plain = st.from_regex(compiled, fullmatch=True, alphabet=_PLAIN)
        plain.validate()
    except Exception:  # noqa: BLE001 - whatever it says, letters that it asks for are not plain
        plain = st.from_regex(compiled, fullmatch=True)
    return plain.filter(is_fit)


def compile_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""The same for Python: only ASCII for `\d` and its like, named groups as Python has them."""
    text = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    text = re.sub(r"\\[pP]\{[^}]*\}", "[a-zA-Z]", text).replace("\\/", "/")
    text = _without_shorts(text)
    text = re.sub(r"(?<!\\)\$(?=\)|\||$)", r"\\Z", text)
    try:
        return re.compile(text, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _without_shorts(text: str) -> str:
    r"""With `\d`, `\w` and `\s` written out, since hypothesis would load all of Unicode."""
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


def _bounded(pattern: str, least: int, most: int) -> str:
    """With the bounds of length in place of `+` or `*`, where the pattern is one class and that."""
    match = _LOOSE.fullmatch(pattern.removeprefix("^"))
    if match is None:
        return pattern
    low = max(least, int(match["many"] == "+"))
    return f"^{match['one']}{{{low},{max(low, min(most, low + 20))}}}$"
