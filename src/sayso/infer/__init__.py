"""Hints guessed from one tool's own text. Pure: a function of the tool and nothing else."""

from typing import TYPE_CHECKING

from sayso.infer.declaring import completed, undeclared
from sayso.infer.guesses import chances, guess
from sayso.infer.repeats import is_unsafe_to_repeat
from sayso.infer.words import VERBS
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.infer.lexicon import KINDS, NOUNS, READS, verb_of
    from sayso.infer.opinion import Opinion, Reader, join, opinion_of, question, understand


__all__ = [
    "KINDS",
    "NOUNS",
    "READS",
    "VERBS",
    "Opinion",
    "Reader",
    "chances",
    "completed",
    "guess",
    "is_unsafe_to_repeat",
    "join",
    "opinion_of",
    "question",
    "undeclared",
    "understand",
    "verb_of",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.infer.lexicon": ("KINDS", "NOUNS", "READS", "verb_of"),
        "sayso.infer.opinion": (
            "Opinion",
            "Reader",
            "join",
            "opinion_of",
            "question",
            "understand",
        ),
    },
)
