"""Readers of file formats. They compare the meaning of two contents, not their bytes."""

from sayso.verify.grade.readers.choice import compare_contents
from sayso.verify.grade.readers.content import Outcome, Reader

__all__ = ["Outcome", "Reader", "compare_contents"]
