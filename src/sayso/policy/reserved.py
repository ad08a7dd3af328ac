"""Names that no caller may have, because records and rules use them."""

import re
import unicodedata
from typing import Final

RESERVED_NAMES: Final = frozenset(
    {"local", "console", "link", "terminal", "elicitation", "program"}
)
"""`local` is this machine's user. The other names are people who answer unauthenticated."""
RESERVED_PREFIXES: Final = ("key:", "client:", "token:", "tenant:")
"""In order: API keys, clients without a person, renamed subjects, and accounts with a tenant."""

_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek and Latin letters that look like those of the names above.
    "".join(
        map(
            chr,
            (
                *(0x0430, 0x0441, 0x0435, 0x0456, 0x043A, 0x04CF, 0x043C, 0x043E, 0x0455, 0x0442),
                *(0x0433, 0x0443, 0x03B1, 0x03B5, 0x03B9, 0x03BA, 0x03BD, 0x03BF, 0x03C4, 0x03C5),
                *(0x0131, 0x0269, 0x043F, 0x03C1, 0x03F2, 0x0501, 0x0475, 0x03BB, 0x0237, 0x0585),
                *(0x0251, 0x0261, 0x0440, 0x0030, 0x0031),
                # Characters that look like a colon.
                *(0x02D0, 0x02F8, 0x0589, 0x05C3, 0x1361, 0x1803, 0x205A, 0x2236, 0xA789, 0x0703),
            ),
        )
    ),
    "aceiklmostryaeiknotuiinpcdvljo" + "agpol" + 10 * ":",
)


_LATIN: Final = re.compile(
    r".*\b(?:LATIN|CIRCLED|SQUARED|INDICATOR)\b.* (?:LETTER|CAPITAL) ([A-Z])(?: WITH .*)?"
)
"""The base letter in a Unicode name, such as `LATIN LETTER SMALL CAPITAL C`."""
_ALIKE: Final = str.maketrans("i|", "ll")
"""ASCII characters that look alike in many typefaces, in lower case."""


def is_reserved(name: str) -> bool:
    """Return whether a name is reserved, or looks like a reserved one.

    >>> is_reserved("Console "), is_reserved("consoIe"), is_reserved("terminal"), is_reserved("amy")
    (True, True, True, False)
    """
    plain = _skeleton(name)
    letters = "".join(char for char in plain if char.isalnum() or char == ":")
    return any(
        _reads_as(form, reserved) for form in (plain, letters) for reserved in _NAMES
    ) or any(
        _reads_as(form[: len(reserved)], reserved)
        for form in (plain, letters)
        for reserved in _PREFIXES
    )


def _reads_as(name: str, reserved: str) -> bool:
    """Return whether a name looks like `reserved`; a non-ASCII character matches any letter."""
    pairs = list(zip(name, reserved, strict=False))
    is_alike = all(char == letter or not char.isascii() for char, letter in pairs)
    return len(name) == len(reserved) and is_alike and any(char == letter for char, letter in pairs)


def _skeleton(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKALIKES)
    letters = map(_letter, folded)
    plain = "".join(char for char in letters if char == "|" or _is_seen(char)).translate(_ALIKE)
    return plain.replace("rn", "m")


def _letter(char: str) -> str:
    if not char.isascii() and (found := _LATIN.fullmatch(unicodedata.name(char, ""))):
        return found[1].lower()
    return char


def _is_seen(char: str) -> bool:
    """Return whether a character is visible: a letter, digit, colon, or any non-ASCII sign."""
    if char.isascii():
        return char.isalnum() or char == ":"
    return unicodedata.category(char)[0] not in "CMZ" and char not in _FILLERS


_FILLERS: Final = frozenset("\u3164\u115f\u1160\uffa0\u2800")
"""Characters that look like a blank."""
_NAMES: Final = frozenset(map(_skeleton, RESERVED_NAMES))
_PREFIXES: Final = frozenset(map(_skeleton, RESERVED_PREFIXES))
