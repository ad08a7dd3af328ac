"""Hints inferred from one tool's own text. Pure functions of the tool."""

from sayso.infer.declaring import completed, is_unsafe_to_repeat, undeclared
from sayso.infer.guesses import chances, guess
from sayso.infer.lexicon import KINDS, NOUNS, READS, VERBS, verb_of
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
