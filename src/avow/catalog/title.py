"""Titles for tools that have none: `customer_delete` becomes “Delete customer”."""

import re
from typing import Final

from avow.infer import VERBS

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def derive_title(name: str) -> str:
    """A title made of the words of `name`, the verb first where the name ends with it."""
    parts = [one if one.isupper() and len(one) > 1 else one.lower() for one in _WORD.findall(name)]
    if not parts:
        return name
    if len(parts) > 1 and parts[-1] in VERBS and parts[0] not in VERBS:
        parts = [parts[-1], *parts[:-1]]
    return " ".join([parts[0][:1].upper() + parts[0][1:], *parts[1:]])
