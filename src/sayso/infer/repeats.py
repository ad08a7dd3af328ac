"""Whether a repeated delete is safe, by the words of the tool's own text.

Most deletes fail when they are repeated, or delete what has the same name since. So a delete is
proposed as idempotent only where its text says that it is.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.features import parts_of, text_of
from sayso.infer.lexicon import KINDS, verb_of
from sayso.infer.settled import DESTROYS, kinds_of

_LONGEST: Final = 20_000
"""Characters of a text that are read."""
_AGAIN: Final = r"(?:again|twice|repeatedly|more than once)"
_SAYS: Final = re.compile(
    r"\bidempotent"
    r"|\bsafe(?:ly)? to (?:repeat|retry|call again|run again)"
    r"|\b(?:can|may) (?:safely )?be (?:safely )?(?:repeated|retried)"
    rf"|\b{_AGAIN}\b[^.;]{{0,40}}\b(?:nothing|no effect|no error|harmless|safe)\b",
    re.IGNORECASE,
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|no|non|(?:is|are)n['’]t)\W+(?:\w+\W+){0,2}?"
    r"(?:idempotent|safe|safely|repeated|retried)",
    re.IGNORECASE,
)


def is_unsafe_to_repeat(tool: Mapping[str, Any]) -> bool:
    """Whether a tool deletes, and its text does not say that a repeat changes nothing.

    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note."})
    True
    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note. Idempotent."})
    False
    """
    name = text_of(tool.get("name"))[:_LONGEST]
    text = text_of(tool.get("description"))[:_LONGEST]
    first = re.search(r"\w+", text)
    verb = verb_of(first[0].lower()) if first else None
    is_delete = DESTROYS in kinds_of(parts_of(name)) or (verb and KINDS[verb] == DESTROYS)
    return bool(is_delete) and (_SAYS.search(text) is None or _DENIES.search(text) is not None)
