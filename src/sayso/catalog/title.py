"""Titles derived from names: `customer_delete` becomes “Delete customer”."""

import re
from typing import Final

from sayso.infer import VERBS

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_JOINTS: Final = frozenset({"and", "by", "for", "from", "in", "of", "on", "or", "to", "with"})
_OTHERS: Final = frozenset(
    "approve calculate compute execute export generate rebuild reject sync validate".split()
)
"""More verbs, in addition to `VERBS`, that are verbs at the end of a name."""
_OF_MANY: Final = frozenset({"archive", "reset"})
"""Nouns that are verbs after a plural: `books_archive`, but not `web_archive`."""
_PROGRAMS: Final = frozenset({"docker", "git", "helm", "kubectl", "npm", "pip"})


def derive_title(name: str) -> str:
    """Return a title from the words of `name`, with a verb at the end moved to the front.

    The order stays if the last word is as often a noun (“Git status”), in phrases (“Search and
    replace”), and after the name of a program (“Git add”). Non-ASCII names are unchanged.

    >>> derive_title("customer_delete"), derive_title("git_status"), derive_title("getUserById")
    ('Delete customer', 'Git status', 'Get user by id')
    """
    parts = [
        word if word.isupper() and len(word) > 1 else word.lower() for word in _WORD.findall(name)
    ]
    if not parts or not name.isascii():
        return name
    if _has_object_first(parts):
        parts = [parts[-1], *parts[:-1]]
    return " ".join([parts[0][:1].upper() + parts[0][1:], *parts[1:]])


def _has_object_first(parts: list[str]) -> bool:
    if parts[0] in VERBS | _PROGRAMS or not _JOINTS.isdisjoint(parts):
        return False
    is_plural = parts[0].endswith("s") and not parts[0].endswith("ss")
    return parts[-1] in VERBS | _OTHERS or (is_plural and parts[-1] in _OF_MANY)
