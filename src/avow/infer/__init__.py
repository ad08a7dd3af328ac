"""Hints guessed from one tool's own text. Pure: a function of the tool and nothing else."""

from avow.infer.guess import chances, guess
from avow.infer.words import VERBS

__all__ = ["VERBS", "chances", "guess"]
