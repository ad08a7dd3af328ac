"""Predicates of sentences about things: `The slot is up for grabs`, `Each lands in the mailbox`.

No list has all English idioms for a loss. Descriptions usually state only what a thing (a result,
an argument) has, needs or shows. So a text is not certain if it states anything else of a thing.
"""

from typing import Final

from sayso.infer.context import BREAKS, ENDS, following
from sayso.infer.grammar import (
    ADVERBS,
    BE,
    CLOSED,
    CONDITIONS,
    DETERMINERS,
    JOINTS,
    MODALS,
    NEGATORS,
    PARTICIPLES,
    PREPOSITIONS,
    PRONOUNS,
    RESULTS,
    STATIVES,
    SUBJECTS,
    TAKERS,
    WAS,
    words_of,
)
from sayso.infer.lexicon import KINDS, READS, verb_of
from sayso.infer.script import is_noun, is_participle, is_stative, is_verb, stems

_IDIOMATIC: Final = words_of(
    "attempt attend begin come consume elapse encounter fall figure give hope learn leave let lose"
    " make merge miss narrow pass pull reach reveal serve start surface talk turn undergo visit"
    " yield"
)
_PLAIN: Final = STATIVES - _IDIOMATIC - {"last", "look", "rest"}
"""Verbs of states that are rarely part of an idiom."""
_PARTICLES: Final = words_of("away back down off out over up")
_OPENERS: Final = DETERMINERS | words_of("they it these those only")
_HARMLESS_SUBJECTS: Final = SUBJECTS | RESULTS | words_of("agent sdk user")
_STATES: Final = words_of(
    "absent acceptable accessible active additive ambiguous available cheaper complete correct"
    " efficient empty essential false hard helpful important inactive invalid irreversible large"
    " longer mandatory null off on open optional part present private public read ready relevant"
    " required sensitive shorter similar small true unavailable unique unknown unsure useful valid"
    " visible"
)
"""States that descriptions attribute to things."""
_REACH: Final = 8
_SENTENCE_ENDS: Final = frozenset(".!?;")


def figurative(tokens: list[str]) -> str | None:
    """Return the first word by which a thing acts or ends somewhere, or `None` without one.

    >>> figurative(["the", "slot", "is", "up", "for", "grabs"])
    'up'
    >>> figurative(["the", "inbox", "breathes", "freely"])
    'breathes'
    >>> figurative(["the", "list", "contains", "ids"])
    """
    for index, word in enumerate(tokens):
        after = following(tokens, index)
        if word in BE and (
            after in _PARTICLES or (after, following(tokens, index, 2)) == _GIVEN_TO
        ):
            return after
        if (word, after) == ("no", "more") and following(tokens, index, 2) != "than":
            return after
        if _begins_clause(tokens, index) and (verb := _verb(tokens, index)):
            return verb
        if _is_joined_idiom(tokens, index) or _gives_two(tokens, index):
            return word
    return None


_GIVEN_TO: Final = ("given", "to")


def _is_joined_idiom(tokens: list[str], index: int) -> bool:
    """Return whether a joined verb is idiomatic: `and let go of the seat`."""
    before = tokens[index - 1] if index else ""
    return (before in JOINTS or before == "which") and not _IDIOMATIC.isdisjoint(
        stems(tokens[index])
    )


def _gives_two(tokens: list[str], index: int) -> bool:
    """Return whether a verb has two objects: `show the idle ones the exit`."""
    if verb_of(tokens[index]) != "show" or following(tokens, index) not in TAKERS - {"me", "us"}:
        return False
    for token in tokens[index + 2 : index + _REACH]:
        if token in DETERMINERS:
            return True
        if token in CLOSED or not token.isalpha():
            return False
    return False


def _begins_clause(tokens: list[str], index: int) -> bool:
    word = tokens[index]
    before = tokens[index - 1] if index else ""
    if word in _OPENERS:
        return before in BREAKS or before in JOINTS or before in CONDITIONS
    is_noun_here = word.isalpha() and word not in CLOSED and not verb_of(word)
    return is_noun_here and before in _SENTENCE_ENDS and STATIVES.isdisjoint(stems(word))


def _verb(tokens: list[str], index: int) -> str | None:
    """Return the verb of the clause that begins here, unless it is harmless."""
    for place in range(index + 1, min(index + _REACH, len(tokens))):
        word = tokens[place]
        if word in BE:
            return (
                _state(tokens, place)
                if _HARMLESS_SUBJECTS.isdisjoint(tokens[index:place])
                else None
            )
        if word in BREAKS or word in MODALS or word in WAS or word in PRONOUNS:
            return None
        if _is_verb(tokens, place):
            verb = verb_of(word)
            has_harmless_subject = not _HARMLESS_SUBJECTS.isdisjoint(tokens[index:place])
            is_read = verb is not None and READS.issuperset(KINDS[verb])
            is_judged = verb is not None and place == index + 1 and tokens[index] in SUBJECTS
            if (
                is_judged
                or (is_read and has_harmless_subject)
                or not _PLAIN.isdisjoint(stems(word))
            ):
                return None
            if _is_followed(tokens, place):
                return word
    return None


def _state(tokens: list[str], index: int) -> str | None:
    """Return the stated condition of a thing, unless it is a noun or known to be harmless."""
    index += 1
    while index < len(tokens) and (
        tokens[index] in ADVERBS | NEGATORS or tokens[index].endswith("ly")
    ):
        index += 1
    word = following(tokens, index, 0)
    if not word.isalpha() or word.endswith("ing") or (word.endswith("s") and is_noun(word)):
        return None
    is_known = word in CLOSED or word in _STATES or word in PARTICIPLES or is_participle(word)
    return None if is_known else word


def _is_verb(tokens: list[str], index: int) -> bool:
    """Return whether a word may be the verb of a subject: `slots open`, `the slot opens`."""
    word = tokens[index]
    before = tokens[index - 1]
    after = following(tokens, index)
    if word.endswith("s") == before.endswith("s") or word.endswith(("ss", "ed", "ing")):
        return False
    if is_noun(word) and not (is_verb(word) and (after in ADVERBS or after.endswith("ly"))):
        return False
    if before in PREPOSITIONS or (before in DETERMINERS and before not in {"each", "all", "one"}):
        return False
    return bool(verb_of(word) or is_verb(word) or is_stative(word))


def _is_followed(tokens: list[str], index: int) -> bool:
    """Return whether the next word makes this one a verb, not the first half of a compound."""
    after = following(tokens, index)
    is_end = after in ENDS or after in {"", ",", "and"} or after.endswith("ly")
    starts = after in TAKERS or after in PREPOSITIONS or after in ADVERBS
    return is_end or starts or tokens[index - 1] == "one"
