"""Readers of file formats, which separate meaning from bytes."""

from sayso.verify.grade.readers.choice import compare_contents
from sayso.verify.grade.readers.content import Outcome, Reader

__all__ = ["Outcome", "Reader", "compare_contents"]
