"""Hints guessed from one tool's name and description, with reasons in words.

A pure function of the tool. Words count by their position, not as substrings: the verb of
`delete-list-item` is *delete*, the verb of `memory.show` is *show*.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from avow.infer import words
from avow.intent import LOOSER, Guess, HintName

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NEGATED: Final = r"\b(?:not|non|isn['’]t|never)[\s-]+(?:(?:an?|strictly|necessarily)\s+)?"


def _cue(pattern: str) -> re.Pattern[str]:
    """What a description says, with the word that turns it around as first group."""
    return re.compile(rf"({_NEGATED})?\b(?:{pattern})\b", re.IGNORECASE)


_DESTROYS: Final = _cue(
    r"(?:cannot|can['’]t|can not) be (?:undone|reversed|recovered|restored)|irreversibl[ey]"
    r"|permanently (?:delete|remove|destroy|erase)s?"
    r"|\A(?:delete|destroy|drop|erase|purge|remove|wipe)s?"
)
_READS: Final = _cue(r"read[- ]only|does(?: not|n['’]t) (?:modify|change|write)")
_REPEATS: Final = _cue(r"idempotent")

_JOINTS: Final = frozenset({"and", "or", "then"})
_SURE: Final = 0.99
_LIKELY: Final = 0.95
_MAYBE: Final = 0.8


@dataclass(frozen=True, slots=True)
class _Verb:
    word: str
    place: str
    weight: float


def guess(tool: Mapping[str, Any]) -> dict[HintName, Guess]:
    """The hints that `tool`, an entry of `tools/list`, suggests; nothing where nothing speaks.

    Two cues that disagree on a hint leave the stricter value.
    """
    parts = [one.lower() for one in _WORD.findall(_text_of(tool, "name"))]
    found = [*_from_description(_text_of(tool, "description")), *_from_reach(parts)]
    if (verb := _verb_of(parts)) and not _is_undecided(verb, parts):
        said, last = _from_verb(verb), _rival_of(verb, parts)
        found += said if last is None else _agreed(said, _from_verb(last))
    return _merge([*found, *_from_destroyer(parts, verb)])


def _from_destroyer(parts: list[str], verb: _Verb | None) -> list[tuple[HintName, Guess]]:
    """A verb that destroys behind a joint or in the middle: `get_and_delete`, `db_delete_rows`."""
    for before, word in pairwise(["", *parts]):
        is_joined = before in _JOINTS
        if verb is not None and verb.word == word:
            continue
        if word in words.DESTROY and (is_joined or parts[0] not in words.SURELY_READ):
            reason = (f"the name says “{word}”",)
            return [
                ("read_only", Guess(value=False, confidence=_LIKELY, reasons=reason)),
                ("destructive", Guess(value=True, confidence=_LIKELY, reasons=reason)),
            ]
    return []


def _text_of(tool: Mapping[str, Any], key: str) -> str:
    """A text of the tool; what is no text says nothing."""
    value = tool.get(key)
    return value if isinstance(value, str) else ""


def _verb_of(parts: list[str]) -> _Verb | None:
    """The verb of a name: its first word, else its last, else the one after a prefix."""
    known = words.READ | words.WRITE
    places = ((0, "starts", _SURE), (-1, "ends", _SURE), (1, "goes on", _MAYBE))
    for index, place, weight in places:
        if len(parts) > max(index, 0) and parts[index] in known:
            return _Verb(parts[index], place, _weight(parts[index], parts, weight))
    return None


def _rival_of(verb: _Verb, parts: list[str]) -> _Verb | None:
    """The last word, where it is the verb if the first is the noun that it may be: `order_get`.

    What may destroy is never taken for a noun.
    """
    nouns = words.NOUNS - words.DESTROY
    is_noun = verb.place == "starts" and verb.word in nouns and len(parts) > 1
    is_verb = parts[-1] in (words.READ | words.WRITE) - words.NOUNS and parts[-1] != verb.word
    return (
        _Verb(parts[-1], "ends", _weight(parts[-1], parts, _SURE)) if is_noun and is_verb else None
    )


def _agreed(
    first: list[tuple[HintName, Guess]], last: list[tuple[HintName, Guess]]
) -> list[tuple[HintName, Guess]]:
    """What two readings of a name both say, and what the likelier, the last, says more strictly."""
    before = dict(first)
    found: list[tuple[HintName, Guess]] = []
    for name, one in last:
        other = before.get(name)
        if one.value is not LOOSER[name]:
            found.append((name, one))
        elif other is not None and other.value == one.value:
            found.append((name, min(other, one, key=lambda said: said.confidence)))
    return found


def _is_undecided(verb: _Verb, parts: list[str]) -> bool:
    """Whether a verb that reads shares the name with one that writes.

    As in `get_or_create`, `create_access_list`; but not in `get_merge_request`.
    """
    is_shared = verb.place == "ends" or not {"and", "or"}.isdisjoint(parts)
    writes = words.WRITE - words.NOUNS
    return verb.word in words.READ and is_shared and not writes.isdisjoint(parts)


def _weight(verb: str, parts: list[str], weight: float) -> float:
    """Less where a reading verb has company that writes, as in `get_merge_request`."""
    if verb in words.DESTROY:
        return max(weight, _LIKELY)
    if verb not in words.READ:
        return weight
    if any(one in words.WRITE for one in parts):
        return _MAYBE
    return weight if verb in words.SURELY_READ else _MAYBE


def _from_verb(verb: _Verb) -> list[tuple[HintName, Guess]]:
    reason = (f"the name {verb.place} with the verb “{verb.word}”",)

    def say(name: HintName, value: bool) -> tuple[HintName, Guess]:  # noqa: FBT001 - a hint's value
        return name, Guess(value, verb.weight, reason)

    if verb.word in words.READ:
        return [say("read_only", value=True)]
    said = [say("read_only", value=False)]
    if verb.word in words.DESTROY or verb.word in words.SEND:
        said.append(say("destructive", value=True))
    if verb.word in words.SEND:
        said += [say("open_world", value=True), say("idempotent", value=False)]
    if verb.word in words.REPEATABLE:
        said.append(("idempotent", Guess(value=True, confidence=_MAYBE, reasons=reason)))
    return said


def _from_reach(parts: list[str]) -> list[tuple[HintName, Guess]]:
    for word in parts:
        if word in words.OPEN:
            return [("open_world", Guess(True, _LIKELY, (f"the name says “{word}”",)))]  # noqa: FBT003 - a hint's value
    for word in parts:
        if word in words.CLOSED:
            return [("open_world", Guess(False, _MAYBE, (f"the name says “{word}”",)))]  # noqa: FBT003 - a hint's value
    return []


def _from_description(text: str) -> list[tuple[HintName, Guess]]:
    cues: tuple[tuple[re.Pattern[str], HintName, bool], ...] = (
        (_DESTROYS, "destructive", True),
        (_DESTROYS, "read_only", False),
        (_READS, "read_only", True),
        (_REPEATS, "idempotent", True),
    )
    found: list[tuple[HintName, Guess]] = []
    for pattern, name, value in cues:
        matches = list(pattern.finditer(text))
        plain = [one.group() for one in matches if one.group(1) is None]
        # A text that says a thing and its contrary does not speak for the looser value.
        if plain and (value is not LOOSER[name] or len(plain) == len(matches)):
            reason = f"the description says “{plain[0]}”"
            found.append((name, Guess(value, _LIKELY, (reason,))))
    return found


def _merge(found: list[tuple[HintName, Guess]]) -> dict[HintName, Guess]:
    merged: dict[HintName, Guess] = {}
    for name, one in found:
        before = merged.get(name)
        merged[name] = one if before is None else _join(name, before, one)
    return merged


def _join(name: HintName, a: Guess, b: Guess) -> Guess:
    if a.value == b.value:
        # Independent cues that agree: both would have to be wrong.
        both = 1 - (1 - a.confidence) * (1 - b.confidence)
        return Guess(a.value, round(both, 4), a.reasons + b.reasons)
    return a if a.value is not LOOSER[name] else b
