"""Names of fields that hold secrets, in any spelling."""

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
"""Words that mean a secret wherever they occur in a name, once its separators are removed."""
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
"""Letters that become ASCII by a change of case, but not by NFKD."""
_UNSEEN: Final = ("Mn", "Mc", "Me", "Cf")
"""Unicode categories of accents and invisible characters."""


def is_secret_name(name: str) -> bool:
    """Return whether a field with this name holds a secret.

    Ignores case style, plurals, prefixes, accents and Unicode variants such as a wide `s`.

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
    """Return whether a value is a count: `tokens: 800` is, `tokens: ["a1b2"]` is not."""
    return isinstance(value, int | float) and bool(_COUNTED.search(name))


def _folded(name: str) -> str:
    """Return a name with ASCII letters where Unicode has equivalents.

    Works letter by letter, because normalizing a run of accents takes quadratic time.
    """
    return name.translate({ord(letter): _plain(letter) for letter in set(name)})


def _plain(letter: str) -> str:
    """Return the ASCII equivalent of a letter, nothing for an accent, else the letter itself."""
    parts = [part for part in normalize("NFKD", letter) if category(part) not in _UNSEEN]
    plain = "".join(_ALIKE.get(part, part) for part in parts)
    if not plain.isascii():
        return letter
    return plain


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(name) if not word.isdigit()]
    return [word[:-1] if word.endswith("s") and word[:-1] in _SINGULAR else word for word in words]


_SINGULAR: Final = _WHOLE | _LAST | {word for pair in _PAIRS for word in pair}

TABLE: Final = {
    "whole": sorted(_WHOLE),
    "last": sorted(_LAST),
    "pairs": sorted(" ".join(pair) for pair in _PAIRS),
    "singular": sorted(_SINGULAR),
    "alike": _ALIKE,
}
"""All words that mean a secret, for the console's JavaScript."""
PATTERNS: Final = {"anywhere": _ANYWHERE, "not": _NOT_SECRET, "counted": _COUNTED, "word": _WORD}
