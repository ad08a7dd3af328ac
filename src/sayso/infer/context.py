"""The context of a word, which distinguishes verbs from nouns: `merge request notes`.

Each function takes the lower-case tokens of a text and the index of one of them.
"""

from itertools import takewhile
from typing import Final

from sayso.infer.grammar import (
    ADVERBS,
    BE,
    BRINGERS,
    CONDITIONS,
    DETERMINERS,
    KEEPS,
    MODALS,
    NEGATORS,
    NOMINALS,
    PREPOSITIONS,
    PRONOUNS,
    READ_NOUNS,
    RESULTS,
    SUBJECTS,
    TAKERS,
    WAS,
)
from sayso.infer.lexicon import SURELY_READ, verb_of
from sayso.infer.script import is_stative

ENDS: Final = frozenset(".!?;\n:")
"""Tokens that end a sentence or a line."""
BREAKS: Final = frozenset(".!?;:\n()[]{}—–→•*|/+&=>-,\"“”#`'") | {"->", ""}
_FINITE: Final = (BE | WAS | MODALS) - {"to", "please", "let's", "be", "being", "having"}
_RELATIVES: Final = frozenset({"that", "which", "who"})
_STOPS: Final = _RELATIVES | CONDITIONS | {"to", "and", "or", "then", "by"}
_LINE_STARTS: Final = frozenset("\n-*•#.;(")
_REACH: Final = 8
"""The number of words to check on either side."""


def following(tokens: list[str], index: int, steps: int = 1) -> str:
    """Return the next token, or an empty string at the end."""
    return tokens[index + steps] if index + steps < len(tokens) else ""


def preceding(tokens: list[str], index: int) -> str:
    """Return the previous word, skipping adverbs, or an empty string at the beginning."""
    index -= 1
    while index >= 0 and (tokens[index] in ADVERBS or tokens[index].endswith("ly")):
        index -= 1
    return tokens[index] if index >= 0 else ""


def sentence_start(tokens: list[str], index: int) -> int:
    """Return the index where a word's sentence begins."""
    while index > 0 and tokens[index - 1] not in ENDS:
        index -= 1
    return index


def takes_object(tokens: list[str], index: int) -> bool:
    """Return whether a word has an object, so that it is a verb: `page the engineer`.

    A noun may have a relative clause: `types that can be used`.
    """
    follower = following(tokens, index)
    if follower != "that":
        return follower in TAKERS
    third = following(tokens, index, 2)
    return third not in BE | WAS | MODALS and not is_stative(third) and third not in PRONOUNS


def is_part_of_noun(before: str, word: str, follower: str, *, has_object: bool) -> bool:
    """Return whether a word after a noun is a noun too: `service account`, `tool calls`.

    A verb after a singular subject ends with an s: `the tool deletes`.
    """
    if before not in SUBJECTS or before in PRONOUNS or has_object:
        return False
    is_inflected = word.endswith("s") and not word.endswith("ss")
    return not is_inflected or follower in ENDS or follower in {",", ""}


def is_label(tokens: list[str], index: int) -> bool:
    """Return whether a word is a heading or labels a list item: `Args:`, `- negative: …`."""
    return following(tokens, index) == ":" and (index == 0 or tokens[index - 1] in _LINE_STARTS)


def begins_subject(tokens: list[str], index: int) -> bool:
    """Return whether a clause has its verb later: `Label matchers are typically used`."""
    for token in tokens[index + 1 : index + _REACH]:
        if token in _FINITE:
            return True
        if token in BREAKS or token in _STOPS or token in TAKERS:
            return False
    return False


def disagrees(tokens: list[str], index: int) -> bool:
    """Return whether the sentence begins with a verb of another form: `Returns ids and labels`.

    Joined verbs have one form, so the word is a noun.
    """
    start = sentence_start(tokens, index)
    head = tokens[start]
    if start == index or not (verb_of(head) or is_stative(head)):
        return False
    return head.endswith("s") != tokens[index].endswith("s")


def is_main_verb(tokens: list[str], index: int) -> bool:
    """Return whether a word is the main verb of a sentence: `The token stops working`."""
    word = tokens[index]
    start = sentence_start(tokens, index)
    if tokens[start] not in DETERMINERS or not _NEAREST <= index - start <= _FARTHEST:
        return False
    if not word.endswith("s") or word.endswith("ss") or begins_subject(tokens, index):
        return False
    inside = tokens[start + 1 : index]
    if tokens[index - 1] in DETERMINERS | PREPOSITIONS:
        return False
    if any(verb_of(word) or is_stative(word) for word in inside if word.endswith("s")):
        return False
    return (BREAKS | _FINITE | _STOPS).isdisjoint(inside)


_NEAREST: Final = 2
_FARTHEST: Final = 5


def is_caused(tokens: list[str], index: int) -> bool:
    """Return whether a participle is caused by `have`: `have the order placed`."""
    for start in range(max(0, index - _FARTHEST), index - 1):
        if tokens[start] in {"have", "has", "having"}:
            return tokens[start + 1] in DETERMINERS | {"it", "them"}
    return False


def subject_of(tokens: list[str], index: int) -> str:
    """Return the subject of a passive, skipping adverbs and modals."""
    index -= 1
    while index >= 0 and (
        tokens[index] in BE or tokens[index] in MODALS or tokens[index].endswith("ly")
    ):
        index -= 1
    return tokens[index] if index >= 0 else ""


def is_about_results(tokens: list[str], index: int) -> bool:
    """Return whether a passive is about the answer: `Results are cut`."""
    noun = subject_of(tokens, index)
    if noun.endswith("ies"):
        noun = noun[:-3] + "y"
    return not RESULTS.isdisjoint((noun, noun.removesuffix("s"), noun.removesuffix("es")))


def has_negated_subject(tokens: list[str], index: int) -> bool:
    """Return whether a passive is denied by its subject: `Nothing is billed`."""
    start = index - 1
    while start >= 0 and tokens[start] not in BE and tokens[start] not in ENDS:
        start -= 1
    before = tokens[max(0, start - 3) : start]
    if start < 0 or tokens[start] in ENDS or not before:
        return False
    return before[-1] in {"nothing", "none"} or "no" in before


def is_restrictive(tokens: list[str], index: int) -> bool:
    """Return whether a passive says which things are meant: `messages that are flagged`."""
    start = index - 1
    while start > 0 and (tokens[start] in BE or tokens[start] in ADVERBS):
        start -= 1
    return tokens[start] == "that" and tokens[start - 1] != ","


def is_possible(tokens: list[str], index: int) -> bool:
    """Return whether a passive is only a possibility: `roles that can be delegated`."""
    return tokens[max(0, index - 2) : index] == ["can", "be"] or (
        tokens[index - 1] == "be" and ("can" in tokens[max(0, index - 4) : index])
    )


def does_a_read(tokens: list[str], index: int) -> bool:
    """Return whether an empty verb has a read as its object.

    `Runs a read-only query`, `Performs a semantic search`, but not `Performs a check and a purge`.
    """
    phrase = list(takewhile(lambda token: token not in ENDS, tokens[index + 1 :]))
    if any(map(is_nominal, phrase)):
        return False
    near = phrase[:_REACH]
    if near[1:2] and near[1] in SURELY_READ and "command" in near:
        return True
    ends = BREAKS | _STOPS | PREPOSITIONS
    objects = takewhile(lambda token: token not in ends, near)
    return not READ_NOUNS.isdisjoint(objects) or "read-only" in near


def raises_error(tokens: list[str], index: int) -> bool:
    """Return whether a word tells of an exception: `raises a ValueError`."""
    if tokens[index] not in {"raise", "raises", "throw", "throws"}:
        return False
    near = tokens[index + 1 : index + 4]
    return "value" in near or any(word.endswith(_ERRORS) for word in near)


_ERRORS: Final = ("error", "errors", "exception", "exceptions")


def has_result_as_object(tokens: list[str], index: int) -> bool:
    """Return whether the object of a verb is part of an answer: `builds a query`."""
    for token in tokens[index + 1 : index + _REACH]:
        if token in BREAKS or token in PREPOSITIONS or token in _STOPS:
            return False
        if token in RESULTS or token in READ_NOUNS:
            return True
    return False


def is_of_reader(tokens: list[str], index: int) -> bool:
    """Return whether a person acts: `users can set …`, `ask the user to select …`."""
    before = tokens[max(0, index - 4) : index]
    near = [word for word in before if not word.endswith("ly") and word != "first"]
    if len(near) > 1 and near[-1] in {"can", "may", "must", "should", "could", "to"}:
        return near[-2].removesuffix("s") in _PEOPLE or (near[-1] != "to" and near[-2] == "you")
    return False


_PEOPLE: Final = frozenset({"user", "owner", "administrator", "admin", "person", "client"})


def is_in_list(tokens: list[str], index: int) -> bool:
    """Return whether a word is in a bracketed list of single words: `(create, delete)`."""
    start = index
    while start >= 0 and tokens[start] != "(" and index - start < _LIST_REACH:
        start -= 1
    inside = tokens[start + 1 : start + _LIST_REACH]
    if start < 0 or tokens[start] != "(" or ")" not in inside:
        return False
    inside = inside[: inside.index(")")]
    words = inside[::2]
    separators = inside[1::2]
    return len(words) > 1 and len(inside) % 2 == 1 and set(separators) <= {",", "/", "|"}


_LIST_REACH: Final = 24


def is_nominal(word: str) -> bool:
    """Return whether a word is a noun for a write: `removal`, `purge`."""
    return word in NOMINALS or word.removesuffix("s") in NOMINALS


def performs(tokens: list[str], index: int) -> bool:
    """Return whether a noun for a write is performed: `with revocation of the rest`."""
    if not is_nominal(tokens[index]):
        return False
    if following(tokens, index) not in _AFTER_NOMINAL:
        return following(tokens, index) == "included"
    start = index - 1
    while start >= 0 and index - start < _REACH and tokens[start] not in BREAKS:
        if tokens[start] in BRINGERS:
            return True
        start -= 1
    return False


_AFTER_NOMINAL: Final = frozenset({"of", "for", "", ".", ",", "\n", ")", ";", ":"})


def denies_keeping(tokens: list[str], index: int) -> bool:
    """Return whether a verb of keeping is negated: `What is found is not retained`."""
    if tokens[index] not in KEEPS:
        return False
    for before in reversed(tokens[max(0, index - _FARTHEST) : index]):
        if before in BREAKS:
            return False
        if before in NEGATORS:
            return True
    return False


def takes_back(tokens: list[str], index: int) -> bool:
    """Return whether a sentence has a negation that `unless` would reverse."""
    start = sentence_start(tokens, index)
    sentence = takewhile(lambda token: token not in ENDS, tokens[start:])
    return not (NEGATORS | {"only"}).isdisjoint(sentence)


def is_removed(tokens: list[str], index: int) -> bool:
    """Return whether a participle describes an effect: `the number of rows removed`."""
    before = "".join(tokens[index - 1 : index])
    return before not in BREAKS | (
        DETERMINERS - {"those", "these"}
    ) | BE | WAS | PREPOSITIONS and following(tokens, index) in (ENDS | {"", "by", ","})


def is_what_it_did(tokens: list[str], index: int) -> bool:
    """Return whether a later sentence returns an effect: `Returns the deleted rows`."""
    start = sentence_start(tokens, index)
    return (
        start > 0
        and tokens[start] in {"return", "returns"}
        and not {"a", "an"} & set(tokens[start:index])
        and (DETERMINERS | PREPOSITIONS | _COUNTS).issuperset(tokens[start + 1 : index])
    )


_COUNTS: Final = frozenset({"number", "count", "list", "id", "ids", "names"})
