"""Names of fields that hold secrets: by their words, however they are written."""

import re
from itertools import pairwise
from typing import Any, Final
from unicodedata import category, normalize

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ANYWHERE: Final = re.compile(
    r"password|passwd|passphrase|passcode|secret|token|credential|authorization|cookie|apikey"
    r"|privatekey|accesskey",
    re.IGNORECASE,
)
"""Words that mean a secret wherever they stand in a name, its separators left out."""
_WHOLE: Final = frozenset(
    ("cvc", "cvv", "csc", "jwt", "mnemonic", "otp", "pass", "pin", "pwd", "sid", "ssn", "totp")
)
"""Words that mean a secret if they are the whole name."""
_LAST: Final = frozenset(
    ("cvc", "cvv", "csc", "jwt", "otp", "pass", "pwd", "sessid", "sessionid", "ssn", "totp")
)
"""Words that mean a secret as the last word of a name."""
_BEFORE_KEY: Final = (
    *("access", "account", "api", "auth", "encryption", "hmac", "master", "private", "secret"),
    *("session", "shared", "signing", "storage"),
)
_BEFORE_CODE: Final = ("auth", "backup", "mfa", "recovery", "security", "verification")
_BEFORE_PIN: Final = ("account", "bank", "card", "sim", "user")
_PAIRS: Final = frozenset(
    {
        *((word, "key") for word in _BEFORE_KEY),
        *((word, "code") for word in _BEFORE_CODE),
        *((word, "pin") for word in _BEFORE_PIN),
        *(("session", "id"), ("sess", "id"), ("card", "number"), ("social", "security")),
        *(("seed", "phrase"), ("recovery", "phrase")),
    }
)
"""Two words in a row that mean a secret."""
_NOT_SECRET: Final = re.compile(
    r"^(max|min|n|num|count)[_-]?tokens?\Z|(page|cursor|continuation|sync)[_-]?token"
    r"|^(tokenizers?|tokeni[sz]e[rd]?|secretary|secretar(y|ies)[_-]?.*|cookies?[_-]?cutter)\Z",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"tokens\Z", re.IGNORECASE)
_ALIKE: Final = {"\N{LATIN SMALL LETTER DOTLESS I}": "i", "ß": "ss", "ẞ": "SS"}
"""Letters that become plain ones when their case changes, but not by NFKD."""
_UNSEEN: Final = ("Mn", "Mc", "Me", "Cf")
"""Unicode's categories of accents and of invisible signs."""


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a secret.

    Snake, camel and kebab case, plurals and prefixes are the same name, and so are letters that
    Unicode takes for each other, such as a wide `s` and `s`, with accents or without.

    >>> [is_secret_name(name) for name in ("dbPwd", "CVV2", "user-SSN", "tökens", "classname")]
    [True, True, True, True, False]
    """
    if not name.isascii():
        name = _folded(name)
    if _NOT_SECRET.search(name):
        return False
    if _ANYWHERE.search(re.sub(r"[^A-Za-z]", "", name)):
        return True
    words = _words(name)
    if len(words) == 1 and words[0] in _WHOLE:
        return True
    return words[-1:] != [] and (words[-1] in _LAST or not _PAIRS.isdisjoint(pairwise(words)))


def is_count(name: str, value: Any) -> bool:
    """Return whether a value says how many: `tokens: 800` does, `tokens: ["a1b2"]` does not."""
    return isinstance(value, int | float) and bool(_COUNTED.search(name))


def _folded(name: str) -> str:
    """Return a name with its letters as plain ones where Unicode has such, their case kept.

    Letter by letter, since to normalize a run of accents takes time by the square of its length.
    """
    return name.translate({ord(letter): _plain(letter) for letter in set(name)})


def _plain(letter: str) -> str:
    """Return the plain letters of one letter, none for an accent or an invisible sign.

    A letter that has no plain ones stays; some would become many others.
    """
    parts = [part for part in normalize("NFKD", letter) if category(part) not in _UNSEEN]
    plain = "".join(_ALIKE.get(part, part) for part in parts)
    if not plain.isascii():
        return letter
    return plain


def _words(name: str) -> list[str]:
    """The words of a name in lower case and singular; numbers are left out."""
    words = [word.lower() for word in _WORD.findall(name) if not word.isdigit()]
    return [word[:-1] if word.endswith("s") and word[:-1] in _KNOWN else word for word in words]


_KNOWN: Final = _WHOLE | _LAST | {word for pair in _PAIRS for word in pair}

TABLE: Final = {
    "whole": sorted(_WHOLE),
    "last": sorted(_LAST),
    "pairs": sorted(" ".join(pair) for pair in _PAIRS),
    "singular": sorted(_KNOWN),
    "alike": _ALIKE,
}
"""All words that mean a secret, for who tells them elsewhere."""
PATTERNS: Final = {"anywhere": _ANYWHERE, "not": _NOT_SECRET, "counted": _COUNTED, "word": _WORD}
