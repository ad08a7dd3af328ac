"""Titles for tools that have none: `customer_delete` becomes “Delete customer”."""

import re
from typing import Final

from sayso.infer import VERBS

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_JOINTS: Final = frozenset({"and", "by", "for", "from", "in", "of", "on", "or", "to", "with"})
_OTHERS: Final = frozenset(
    """
    approve calculate compute execute export generate rebuild reject sync validate
    """.split()
)
"""Verbs that say nothing of what they do to the world, and are verbs at the end of a name."""
_OF_MANY: Final = frozenset({"archive", "reset"})
"""Nouns that are verbs behind many things: `books_archive`, but not `web_archive`."""
_PROGRAMS: Final = frozenset({"docker", "git", "helm", "kubectl", "npm", "pip"})


def derive_title(name: str) -> str:
    """A title made of the words of `name`, the verb first where the name ends with it.

    The words keep their order where the last is as often a noun (“Git status”), where they are a
    phrase (“Search and replace”), and where the first is a program whose commands read that way
    (“Git add”). A name in another script is its own title.

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
