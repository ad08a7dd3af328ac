"""Hints guessed from one tool's own text. Pure: a function of the tool and nothing else."""

from avow.infer.declaring import completed, undeclared
from avow.infer.guess import chances, guess
from avow.infer.repeats import is_unsafe_to_repeat
from avow.infer.words import VERBS

__all__ = ["VERBS", "chances", "completed", "guess", "is_unsafe_to_repeat", "undeclared"]
