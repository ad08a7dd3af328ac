"""The words around a word, which tell a verb from a noun: `merge request notes`, `and label ids`.

Each function takes the tokens of a text in small letters and the place of one of them.
"""

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
"""Words that are looked at on either side."""


def following(tokens: list[str], at: int, steps: int = 1) -> str:
    """Return the token behind, or an empty one at the end."""
    return tokens[at + steps] if at + steps < len(tokens) else ""


def preceding(tokens: list[str], at: int) -> str:
    """Return the word before, past adverbs, or an empty one at the beginning."""
    at -= 1
    while at >= 0 and (tokens[at] in ADVERBS or tokens[at].endswith("ly")):
        at -= 1
    return tokens[at] if at >= 0 else ""


def takes_object(tokens: list[str], at: int) -> bool:
    """Return whether a word has an object, so that it is a verb: `page the engineer`.

    A noun may have a relative clause: `types that can be used`.
    """
    follower = following(tokens, at)
    if follower != "that":
        return follower in TAKERS
    third = following(tokens, at, 2)
    return third not in BE | WAS | MODALS and not is_stative(third) and third not in PRONOUNS


def is_part_of_noun(before: str, word: str, follower: str, *, takes: bool) -> bool:
    """Return whether a word behind a noun is a noun, too: `service account`, `tool calls`.

    A verb behind a subject in the singular ends with an s: `the tool deletes`.
    """
    if before not in SUBJECTS or before in PRONOUNS or takes:
        return False
    is_inflected = word.endswith("s") and not word.endswith("ss")
    return not is_inflected or follower in ENDS or follower in {",", ""}


def is_label(tokens: list[str], at: int) -> bool:
    """Return whether a word is a heading or names an item of a list: `Args:`, `- negative: …`."""
    start = tokens[at - 1] if at else ""
    return following(tokens, at) == ":" and (start in _LINE_STARTS or not start)


def begins_subject(tokens: list[str], at: int) -> bool:
    """Return whether a clause has its verb later: `Label matchers are typically used`."""
    for token in tokens[at + 1 : at + _REACH]:
        if token in _FINITE:
            return True
        if token in BREAKS or token in _STOPS or token in TAKERS:
            return False
    return False


def disagrees(tokens: list[str], at: int) -> bool:
    """Return whether the sentence begins with a verb of another form: `Returns ids and labels`.

    Joined verbs have one form, so the word is a noun.
    """
    start = at
    while start > 0 and tokens[start - 1] not in ENDS:
        start -= 1
    head = tokens[start]
    if start == at or not (verb_of(head) or is_stative(head)):
        return False
    return head.endswith("s") != tokens[at].endswith("s")


def is_main_verb(tokens: list[str], at: int) -> bool:
    """Return whether a sentence about a thing has its verb here: `The token stops working`."""
    word = tokens[at]
    start = at
    while start > 0 and tokens[start - 1] not in ENDS:
        start -= 1
    if tokens[start] not in DETERMINERS or not _NEAREST <= at - start <= _FARTHEST:
        return False
    if not word.endswith("s") or word.endswith("ss") or begins_subject(tokens, at):
        return False
    inside = tokens[start + 1 : at]
    if tokens[at - 1] in DETERMINERS | PREPOSITIONS:
        return False
    if any(verb_of(one) or is_stative(one) for one in inside if one.endswith("s")):
        return False
    return not any(one in BREAKS or one in _FINITE or one in _STOPS for one in inside)


_NEAREST: Final = 2
_FARTHEST: Final = 5


def is_caused(tokens: list[str], at: int) -> bool:
    """Return whether a participle tells of what others are made to do: `have the order placed`."""
    for start in range(max(0, at - _FARTHEST), at - 1):
        if tokens[start] in {"have", "has", "having"}:
            return tokens[start + 1] in DETERMINERS | {"it", "them"}
    return False


def is_value(before: str) -> bool:
    """Return whether a word is a value in code: `group_name=checkout`."""
    return before == "="


def subject_of(tokens: list[str], at: int) -> str:
    """Return the noun before a passive's form of `be`, past adverbs and modals."""
    at -= 1
    while at >= 0 and (tokens[at] in BE or tokens[at] in MODALS or tokens[at].endswith("ly")):
        at -= 1
    return tokens[at] if at >= 0 else ""


def is_about_results(tokens: list[str], at: int) -> bool:
    """Return whether a passive tells what is done to an answer: `Results are cut`."""
    noun = subject_of(tokens, at)
    return (
        noun in RESULTS or noun.removesuffix("s") in RESULTS or noun.removesuffix("es") in RESULTS
    )


def is_possible(tokens: list[str], at: int) -> bool:
    """Return whether a passive only tells what can be: `roles that can be delegated`."""
    return tokens[max(0, at - 2) : at] == ["can", "be"] or (
        tokens[at - 1] == "be" and ("can" in tokens[max(0, at - 4) : at])
    )


def does_a_read(tokens: list[str], at: int) -> bool:
    """Return whether a verb without a meaning of its own has a read as its object.

    `Runs a read-only query`, `Performs a semantic search`, but not `Performs a check and a purge`.
    """
    phrase: list[str] = []
    for token in tokens[at + 1 :]:
        if token in ENDS:
            break
        phrase.append(token)
    if any(is_nominal(token) for token in phrase):
        return False
    near = phrase[:_REACH]
    if near[1:2] and near[1] in SURELY_READ and "command" in near:
        return True
    stop = next(
        (n for n, token in enumerate(near) if token in BREAKS or token in _STOPS), len(near)
    )
    first = next((n for n, token in enumerate(near[:stop]) if token in PREPOSITIONS), stop)
    return any(token in READ_NOUNS for token in near[:first]) or near[1:2] == ["read-only"]


def has_result_as_object(tokens: list[str], at: int) -> bool:
    """Return whether the object of a verb is part of an answer: `builds a query`."""
    for token in tokens[at + 1 : at + _REACH]:
        if token in BREAKS or token in PREPOSITIONS or token in _STOPS:
            return False
        if token in RESULTS or token in READ_NOUNS:
            return True
    return False


def is_of_reader(tokens: list[str], at: int) -> bool:
    """Return whether it is the reader who acts: `users can set …`, `ask the user to select …`."""
    near = [one for one in tokens[max(0, at - 4) : at] if not one.endswith("ly") and one != "first"]
    if len(near) > 1 and near[-1] in {"can", "may", "must", "should", "could", "to"}:
        return near[-2].removesuffix("s") in _PEOPLE or (near[-1] != "to" and near[-2] == "you")
    return False


_PEOPLE: Final = frozenset({"user", "owner", "administrator", "admin", "person", "client"})


def is_in_list(tokens: list[str], at: int) -> bool:
    """Return whether a word stands in a bracketed list of single words: `(create, delete)`."""
    start = at
    while start >= 0 and tokens[start] != "(" and at - start < _LIST_REACH:
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
    """Return whether a word is a noun for an act that writes: `removal`, `purge`."""
    return word in NOMINALS or word.removesuffix("s") in NOMINALS


def performs(tokens: list[str], at: int) -> bool:
    """Return whether a noun for a write is said to be done: `with revocation of the rest`."""
    if not is_nominal(tokens[at]) or following(tokens, at) not in _AFTER_NOMINAL:
        return is_nominal(tokens[at]) and following(tokens, at) == "included"
    start = at - 1
    while start >= 0 and at - start < _REACH and tokens[start] not in BREAKS:
        if tokens[start] in BRINGERS:
            return True
        start -= 1
    return False


_AFTER_NOMINAL: Final = frozenset({"of", "for", "", ".", ",", "\n", ")", ";", ":"})


def denies_keeping(tokens: list[str], at: int) -> bool:
    """Return whether a verb that keeps is denied before: `What is found is not retained`."""
    if tokens[at] not in KEEPS:
        return False
    for before in reversed(tokens[max(0, at - _FARTHEST) : at]):
        if before in BREAKS:
            return False
        if before in NEGATORS:
            return True
    return False


def takes_back(tokens: list[str], at: int) -> bool:
    """Return whether a sentence denies something, so that an `unless` takes it back."""
    start = at
    while start > 0 and tokens[start - 1] not in ENDS:
        start -= 1
    end = at
    while end < len(tokens) and tokens[end] not in ENDS:
        end += 1
    return not (NEGATORS | {"only"}).isdisjoint(tokens[start:end])


def is_removed(tokens: list[str], at: int) -> bool:
    """Return whether a participle tells of what a call did: `the number of rows removed`."""
    before = tokens[at - 1] if at else ""
    return before not in BREAKS | (
        DETERMINERS - {"those", "these"}
    ) | BE | WAS | PREPOSITIONS and following(tokens, at) in (ENDS | {"", "by", ","})


def is_what_it_did(tokens: list[str], at: int) -> bool:
    """Return whether a later sentence returns what a call did: `Returns the deleted rows`."""
    start = at
    while start > 0 and tokens[start - 1] not in ENDS:
        start -= 1
    return (
        start > 0
        and tokens[start] in {"return", "returns"}
        and not {"a", "an"} & set(tokens[start:at])
        and all(one in DETERMINERS | PREPOSITIONS | _COUNTS for one in tokens[start + 1 : at])
    )


_COUNTS: Final = frozenset({"number", "count", "list", "id", "ids", "names"})
