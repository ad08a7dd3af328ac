"""Hints guessed from one tool's own text. Pure: a function of the tool and nothing else."""

from avow.infer.guess import guess
from avow.infer.words import READ, WRITE

VERBS = READ | WRITE
"""Every verb that says something about a tool when its name starts or ends with it."""

__all__ = ["VERBS", "guess"]
