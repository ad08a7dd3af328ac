"""The sentence that a person is asked: the same in a dialog, an elicitation and a terminal."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.intent import Level

_GAP: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")
_LONGEST: Final = 120


def fill(template: str, known: Mapping[str, Any]) -> str:
    """An author's sentence with its gaps filled; what is not known stands as it is.

    `known` holds the arguments and what the plan says.

    >>> fill("Delete {customer.name}?", {"customer": {"name": "Amy"}})
    'Delete Amy?'
    """
    return _GAP.sub(lambda gap: _filled(gap, known), template)


def sentence_of(title: str, level: Level, known: Mapping[str, Any]) -> str | None:
    """A sentence of intent and title; none for what only reads.

    >>> sentence_of("Delete customer", Level.DESTRUCTIVE, {"customer_id": 42})
    'This may delete, overwrite or send something: Delete customer 42. Proceed?'
    """
    if level is Level.READ:
        return None
    if level is Level.WRITE:
        return f"About to {_lowered(title)}{which(known)}. OK?"
    return f"This may delete, overwrite or send something: {title}{which(known)}. Proceed?"


def _filled(gap: re.Match[str], known: Mapping[str, Any]) -> str:
    found: Any = known
    for step in gap[1].split("."):
        if not isinstance(found, Mapping) or step not in found:
            return gap[0]
        found = cast("Mapping[str, Any]", found)[step]
    return shown(found)


def which(known: Mapping[str, Any]) -> str:
    """Which one, where exactly one argument says so: `customer_id` 42."""
    ids = [one for name, one in known.items() if name == "id" or name.endswith(("_id", "Id"))]
    one = ids[0] if len(ids) == 1 else None
    return f" {shown(one)}" if isinstance(one, int | str) else ""


def _lowered(title: str) -> str:
    """A title inside a sentence; what is all in capitals stays so."""
    return title if title[1:2].isupper() else f"{title[:1].lower()}{title[1:]}"


def shown(value: Any) -> str:
    """A value in a sentence: a text as it is, anything else as JSON; what is long is cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
