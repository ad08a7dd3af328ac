"""The verdict on one word of a text: no action, hardly one, perhaps one, or surely a write."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from sayso.infer.advice import is_advice, tells_how
from sayso.infer.context import (
    BREAKS,
    ENDS,
    begins_subject,
    disagrees,
    does_a_read,
    following,
    has_negated_subject,
    has_result_as_object,
    is_about_results,
    is_caused,
    is_in_list,
    is_label,
    is_main_verb,
    is_of_reader,
    is_part_of_noun,
    is_possible,
    is_removed,
    is_restrictive,
    is_what_it_did,
    performs,
    preceding,
    raises_error,
    takes_object,
)
from sayso.infer.grammar import (
    ALSO_NOUNS,
    BE,
    CONDITIONS,
    DETERMINERS,
    JOINTS,
    MODALS,
    NEGATORS,
    PARTICIPLES,
    PREPOSITIONS,
    SOFT,
    SUBJECTS,
    WAS,
    words_of,
)
from sayso.infer.lexicon import KINDS, NOUNS, READS, verb_of
from sayso.infer.script import is_homograph, is_noun, is_participle, is_stative, is_verb

Kind = Literal["pass", "doubt", "unsure", "writes"]
"""The verdicts, mildest first: no action, hardly one, perhaps one, surely a write."""

_LISTS: Final = frozenset({",", "/", "(", "or"})
_HEADS: Final = JOINTS | MODALS | SUBJECTS | CONDITIONS | {"let", "which"}
"""Words that a verb may follow, in addition to breaks."""
_CERTAIN_HEADS: Final = words_of("it please that then this to tool which will")
_PARTS: Final = re.compile(r"[-_]+")
_PAIR: Final = 2
_GERUNDS: Final = words_of("after and before by for on or then upon via when while with")
_RELATIVES: Final = frozenset({"who", "that", "which"})
"""Words before what somebody did earlier: `who changed it`."""
_NOTED: Final = frozenset({":", ",", "that"})
_FINDS: Final = frozenset({"find", "filter", "print"})
_PURPOSES: Final = words_of("before by for on upon via when")
_PARTICLES: Final = words_of("away down off out")
_DEMANDS: Final = frozenset({"must", "should", "to"})
_ASKS: Final = frozenset({"if", "whether", "where", "when", "whenever"})
LOSING: Final = frozenset({"destroy", "replace", "send"})
LASTING: Final = LOSING | {"run"}
JOINING: Final = frozenset({"and", "then", "&", "plus"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A word with its surroundings.

    `before` is the previous word, skipping adverbs. `may_be_verb`: the word is where a verb may be.
    `has_object`: an object follows.
    """

    tokens: list[str]
    index: int
    word: str
    before: str
    after: str
    may_be_verb: bool
    has_object: bool


def _place(tokens: list[str], index: int) -> _Place:
    word = tokens[index]
    before = preceding(tokens, index)
    after = following(tokens, index)
    has_object = takes_object(tokens, index)
    may_be_verb = before in BREAKS or (
        before in _HEADS and not is_part_of_noun(before, word, after, has_object=has_object)
    )
    return _Place(tokens, index, word, before, after, may_be_verb, has_object)


def judge(tokens: list[str], index: int) -> Kind:
    """Return the verdict on the word at this place."""
    kind = _judge(tokens, index)
    if kind in ("unsure", "writes") and _is_of_others(tokens, index):
        return "doubt"
    return kind


def _is_of_others(tokens: list[str], index: int) -> bool:
    """Return whether advice names an action, which other calls or people do."""
    if tells_how(tokens, index):
        return True
    verb = verb_of(tokens[index])
    if not takes_object(tokens, index) and _is_in_slashes(tokens, index):
        return True
    destroys = verb is not None and KINDS[verb] == ("destroy",)
    is_before = tokens[index - 1 : index] == ["before"]
    return (is_before or not destroys) and is_advice(tokens, index)


def _is_in_slashes(tokens: list[str], index: int) -> bool:
    """Return whether a word is an alternative in the middle of a sentence: `read/write tools`."""
    return tokens[index - 1 : index] == ["/"] and tokens[index - 3 : index - 2] not in (
        [],
        *([end] for end in ENDS),
    )


def _judge(tokens: list[str], index: int) -> Kind:  # noqa: PLR0911 - an answer for each kind of word
    place = _place(tokens, index)
    word = place.word
    verb = verb_of(place.word)
    if (
        place.before == "how"
        or is_negated(tokens, index)
        or (place.before == "=" and not place.has_object)
    ):
        return "pass"
    if performs(tokens, index):
        return "unsure"
    if "-" in word or "_" in word:
        return _compound(place)
    if (
        _addresses_reader(verb, tokens, index)
        or _runs_a_read(verb, place)
        or raises_error(tokens, index)
    ):
        return "pass"
    if is_stative(word) and (verb is None or (verb in SOFT and verb != word)):
        return "pass"
    if (is_participle(word) or word in PARTICIPLES) and place.before in BE:
        return _passive(place, verb)
    if word.endswith("ing"):
        return _gerund(place, verb)
    if verb is None:
        return _unknown(place)
    if _surely_reads(verb):
        ends = place.may_be_verb and place.after in _PARTICLES and verb not in _FINDS
        return "unsure" if ends else "pass"
    return _write(place, verb)


def _addresses_reader(verb: str | None, tokens: list[str], index: int) -> bool:
    """Return whether an order addresses the reader: `Note that …`, `Call this first`."""
    after = following(tokens, index)
    if verb in ("call", "run") and _is_base_or_gerund(tokens[index], verb) and after == "this":
        return True
    if verb == "call" and not _CALLED.isdisjoint(tokens[index + 1 : index + 5]):
        return True
    if verb == "set" and following(tokens, index, 2) == "to" and _begins(tokens, index):
        return True
    if verb == "start" and tokens[index - 1 : index + 1] == ["get", "started"]:
        return True
    if verb == "call":
        return any("_" in token for token in tokens[index + 1 : index + 4])
    return (verb == "note" and after in _NOTED) or (verb == "start" and after == "here")


def _is_base_or_gerund(word: str, verb: str) -> bool:
    return word == verb or word.endswith("ing")


_CALLED: Final = frozenset({"endpoint", "operation", "tool", "tools"})


def _begins(tokens: list[str], index: int) -> bool:
    return index > 0 and tokens[index - 1] in ENDS


def _runs_a_read(verb: str | None, place: _Place) -> bool:
    return verb is not None and KINDS[verb] == ("run",) and does_a_read(place.tokens, place.index)


def _compound(place: _Place) -> Kind:
    """Judge a compound: `read-only` and `start_time` pass, `auto-purge` does not."""
    parts = [part for part in _PARTS.split(place.word) if part]
    if any(only_writes(part) for part in parts):
        is_pair = len(parts) == _PAIR and "-" in place.word
        if not is_pair and place.before not in JOINING | {"to", "will"} and not place.has_object:
            return "pass"
        is_mild = all(not only_writes(part) or _is_mild(part) for part in parts)
        if is_pair:
            return "doubt" if is_mild and not place.has_object else "unsure"
        return "doubt" if place.may_be_verb else "pass"
    if place.has_object and place.may_be_verb:
        return "unsure"
    if (
        not place.may_be_verb
        or _is_listed(place.before, place.after)
        or is_label(place.tokens, place.index)
    ):
        return "pass"
    last = parts[-1]
    if "_" in place.word or len(parts) > _PAIR or not is_verb(last) or is_noun(last):
        return "pass"
    if is_participle(last) or begins_subject(place.tokens, place.index):
        return "pass"
    return "unsure" if last.endswith("s") or place.before in _CERTAIN_HEADS else "doubt"


def _is_mild(word: str) -> bool:
    return LOSING.isdisjoint(KINDS[verb_of(word) or ""])


def only_writes(word: str) -> bool:
    """Return whether a word is only a writing verb, not a noun or a participle."""
    verb = verb_of(word)
    return (
        verb is not None
        and verb not in NOUNS
        and verb not in ALSO_NOUNS
        and not _surely_reads(verb)
        and not is_participle(word)
    )


def _unknown(place: _Place) -> Kind:
    if is_participle(place.word) and is_caused(place.tokens, place.index):
        return "unsure"
    if is_participle(place.word) and (place.before in _RELATIVES or _tells_who(place)):
        return "doubt"
    if is_noun(place.word) or is_participle(place.word):
        return "unsure" if place.may_be_verb and place.has_object else "pass"
    if _is_name(place.before):
        return "pass"
    if place.word.endswith("ly") and not is_verb(place.word):
        return "pass"
    if place.has_object:
        return "unsure"
    is_harmless = not place.may_be_verb or _is_listed(place.before, place.after)
    if is_harmless or is_label(place.tokens, place.index) or any(map(str.isdigit, place.word)):
        return "pass"
    return _of_dictionary(place) if is_verb(place.word) else _of_none(place)


def _of_dictionary(place: _Place) -> Kind:
    """Judge a dictionary-only verb, in a verb's place and without an object."""
    if is_of_reader(place.tokens, place.index) or place.after == "of":
        return "pass"
    is_noun_there = begins_subject(place.tokens, place.index) or disagrees(
        place.tokens, place.index
    )
    if is_noun_there or place.before in _BRACKETS or place.before == "or":
        return "doubt"
    return "doubt" if is_homograph(place.word) or _is_joined_plural(place) else "unsure"


def _is_joined_plural(place: _Place) -> bool:
    """Return whether a word without an object ends a list: `owners, scores and signals`."""
    ends = place.after in BREAKS or place.after in JOINTS
    return place.word.endswith("s") and place.before in {"and", ","} and ends


def _of_none(place: _Place) -> Kind:
    """Judge an unknown word, in a verb's place and without an object."""
    if place.before in _BRACKETS or (place.before in BREAKS and place.after in BREAKS):
        return "pass"
    return "unsure" if place.before in _CERTAIN_HEADS - {"to"} else "doubt"


_BRACKETS: Final = frozenset("([{/|")


def _write(place: _Place, verb: str) -> Kind:
    """Judge a writing verb, which may be a noun or a participle here."""
    if not place.may_be_verb and is_main_verb(place.tokens, place.index) and not _is_milder(verb):
        return "unsure" if LASTING.isdisjoint(KINDS[verb]) else "writes"
    if is_participle(place.word) and place.word != verb:
        if _is_done(place, verb) or is_caused(place.tokens, place.index):
            return "unsure"
        if place.before in _RELATIVES or _tells_who(place):
            return "doubt"
        return (
            "writes" if place.may_be_verb and place.has_object and place.before != "," else "pass"
        )
    if _is_name(place.before):
        return "pass"
    if verb in NOUNS or verb in ALSO_NOUNS:
        return _write_or_noun(place, verb)
    return _surely_write(place, verb)


def _surely_write(place: _Place, verb: str) -> Kind:
    is_mild = LOSING.isdisjoint(KINDS[verb])
    is_of_others = is_of_reader(place.tokens, place.index)
    if is_of_others or _is_milder(verb) or _makes_a_result(place, verb):
        if not is_mild:
            return "writes"
        return "pass" if is_of_others else "doubt"
    if is_in_list(place.tokens, place.index):
        return "pass"
    if place.may_be_verb:
        return "writes"
    return "unsure" if place.has_object else "doubt"


def _write_or_noun(place: _Place, verb: str) -> Kind:
    before = place.before
    after = place.after
    is_milder = _is_milder(verb) or _makes_a_result(place, verb)
    if place.has_object and not place.may_be_verb:
        return "doubt" if is_milder else "unsure"
    if not place.has_object and (
        not place.may_be_verb or KINDS[verb] == ("operate",) or verb == "include"
    ):
        return "pass"
    if place.has_object or before in _CERTAIN_HEADS:
        return "doubt" if is_milder else "writes"
    if "_" in after or (verb == "set" and "=" in place.tokens[place.index : place.index + 4]):
        return "doubt"
    return "pass" if _is_noun_here(place, verb) else _joined_to_noun(place)


def _is_noun_here(place: _Place, verb: str) -> bool:
    """Return whether the next words make a possible verb a noun."""
    before = place.before
    after = place.after
    if (
        _is_listed(before, after)
        or after in BE
        or after == "of"
        or is_label(place.tokens, place.index)
    ):
        return True
    ends = after in BREAKS or after in JOINTS
    is_plural = place.word.endswith("s") and place.word != verb
    return is_plural and (ends or after in PREPOSITIONS or after in WAS)


def _joined_to_noun(place: _Place) -> Kind:
    """Judge a word that may be a verb or the first half of a compound: `label selectors`."""
    is_first = disagrees(place.tokens, place.index)
    if place.after.endswith("s") and not place.after.endswith("ss"):
        is_noun_there = place.before == "(" or begins_subject(place.tokens, place.index)
        return "doubt" if is_noun_there or is_first else "unsure"
    if place.before == "or" or (is_first and is_noun(place.after)):
        return "pass"
    return "doubt"


def _is_milder(verb: str) -> bool:
    """Return whether a verb may be a read and never loses data: `resolve the name`."""
    kinds = KINDS[verb]
    return verb in _MILDER or (not READS.isdisjoint(kinds) and LASTING.isdisjoint(kinds))


def _tells_who(place: _Place) -> bool:
    """Return whether a participle is what somebody did: `who wrote and deployed it`."""
    return "who" in place.tokens[max(0, place.index - 5) : place.index]


def _makes_a_result(place: _Place, verb: str) -> bool:
    """Return whether a verb only makes or changes the answer: `builds a query`."""
    return LASTING.isdisjoint(KINDS[verb]) and has_result_as_object(place.tokens, place.index)


def _is_done(place: _Place, verb: str) -> bool:
    """Return whether a participle describes the call's own effect: `the number of rows removed`."""
    if KINDS[verb] != ("destroy",):
        return False
    return is_removed(place.tokens, place.index) or is_what_it_did(place.tokens, place.index)


_MILDER: Final = words_of("adjust exclude follow handle hold ignore include make map note take")
"""Verbs that rarely write: `takes longer`, `makes a guess`."""


def _is_listed(before: str, after: str) -> bool:
    return before in _LISTS and (after in BREAKS or after in JOINTS)


def _is_name(before: str) -> bool:
    """Return whether the word after this one must be a noun: `the update`, `per commit`."""
    return before in DETERMINERS or (before in PREPOSITIONS and before != "to")


def is_negated(tokens: list[str], index: int) -> bool:
    """Return whether a verb is negated: `does not create, change or delete`."""
    index -= 1
    while index >= 0 and (tokens[index] in _CHAIN or _is_action(tokens[index])):
        index -= 1
    return index >= 0 and tokens[index] in NEGATORS


_CHAIN: Final = frozenset({",", "or", "nor", "any", "ever", "actually", "be", "been", "/"})


def _is_action(word: str) -> bool:
    verb = verb_of(word)
    if verb is None:
        return is_verb(word) and is_participle(word)
    return verb not in NOUNS and not _surely_reads(verb)


def _passive(place: _Place, verb: str | None) -> Kind:
    """Judge a participle after `be`: a state or an action, unless it is a condition."""
    tokens = place.tokens
    index = place.index
    if _is_no_effect(place, verb):
        return "pass"
    loses = verb is not None and not LOSING.isdisjoint(KINDS[verb])
    if is_about_results(tokens, index):
        return "unsure" if loses and verb != "apply" else "pass"
    if _lasts_a_while(tokens, index):
        return "unsure"
    if place.word in _STATES and not loses:
        return "pass"
    if is_possible(tokens, index):
        return "doubt" if loses else "pass"
    return _passive_effect(place, verb)


def _is_no_effect(place: _Place, verb: str | None) -> bool:
    """Return whether a passive is a condition, a read, or denied."""
    if _is_condition(place.tokens, place.index) or has_negated_subject(place.tokens, place.index):
        return True
    return is_noun(place.word) if verb is None else _surely_reads(verb)


def _lasts_a_while(tokens: list[str], index: int) -> bool:
    """Return whether a passive has a duration, which makes it an effect: `hidden for 30 s`."""
    return following(tokens, index) == "for" and following(tokens, index, 2).isdigit()


def _passive_effect(place: _Place, verb: str | None) -> Kind:
    """Judge a passive that states what is done to a thing, or how the thing is found."""
    is_lasting = verb is not None and not LASTING.isdisjoint(KINDS[verb])
    is_found = place.tokens[place.index - 1] in _LASTING_STATES
    if is_found or (not is_lasting and is_restrictive(place.tokens, place.index)):
        return "doubt"
    if verb is None:
        return "unsure" if is_verb(place.word) or place.word in PARTICIPLES else "doubt"
    if is_lasting:
        return "writes"
    return "unsure"


_LASTING_STATES: Final = frozenset({"already", "currently", "still"})
"""Adverbs before a state that the call found: `tools that are currently deployed`."""
_STATES: Final = frozenset(
    {"associated", "called", "configured", "denied", "hidden", "noted", "owned", "permitted"}
    | {"referenced", "violated"}
    | {"capped", "encoded", "formatted", "ignored", "ordered", "populated", "prefixed"}
    | {"preserved", "rounded", "sorted", "visualized"}
)
"""Participles that describe a state, or how an answer is made."""


def _is_condition(tokens: list[str], index: int) -> bool:
    """Return whether a participle states a requirement or a condition."""
    index -= 1
    while index >= 0 and tokens[index] not in BREAKS:
        if tokens[index] in _ASKS or (tokens[index] in _DEMANDS and tokens[index + 1] == "be"):
            return True
        index -= 1
    return False


def _gerund(place: _Place, verb: str | None) -> Kind:
    if place.before not in _GERUNDS and place.before not in BREAKS:
        return "pass"
    if is_noun(place.word) and not place.has_object:
        return "pass"
    if verb is not None:
        if _surely_reads(verb) or (verb in NOUNS and not place.has_object):
            return "pass"
        is_mild = LOSING.isdisjoint(KINDS[verb]) and place.before in _PURPOSES
        if is_mild or _is_listed(place.before, place.after):
            return "doubt"
        return "writes"
    if is_noun(place.word):
        return "pass"
    if place.before in _LISTS and (place.after in BREAKS or place.after in JOINTS):
        return "doubt"
    return "unsure" if is_verb(place.word) or place.has_object else "doubt"


def _surely_reads(verb: str) -> bool:
    return READS.issuperset(KINDS[verb])
