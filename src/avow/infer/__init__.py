"""Hints guessed from one tool's own text. Pure: a function of the tool and nothing else."""

from avow.infer.guess import guess
from avow.infer.words import NOUNS, READ, WRITE

VERBS = (READ | WRITE) - NOUNS
"""The verbs of tools' names that are verbs wherever they stand."""

__all__ = ["VERBS", "guess"]
