"""Safety of repeated deletes, by the tool's own text.

A repeated delete may fail, or delete a new thing with the same name, so it is proposed as
idempotent only if its text says so.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from sayso.infer.constraints import DESTROYS, kinds_of
from sayso.infer.features import parts_of, text_of
from sayso.infer.lexicon import KINDS, verb_of

_MAX_CHARACTERS: Final = 20_000
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
    """Return whether a tool deletes and its text does not say that a repeat is safe.

    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note."})
    True
    >>> is_unsafe_to_repeat({"name": "delete_note", "description": "Delete a note. Idempotent."})
    False
    """
    name = text_of(tool.get("name"))[:_MAX_CHARACTERS]
    text = text_of(tool.get("description"))[:_MAX_CHARACTERS]
    first = re.search(r"\w+", text)
    verb = verb_of(first[0].lower()) if first else None
    is_delete = DESTROYS in kinds_of(parts_of(name)) or (verb and KINDS[verb] == DESTROYS)
    return bool(is_delete) and (_SAYS.search(text) is None or _DENIES.search(text) is not None)
