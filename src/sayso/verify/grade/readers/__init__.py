"""What files of known formats hold, so that bytes can be told from meaning: a reader each."""

from sayso.verify.grade.readers.choice import compare_contents
from sayso.verify.grade.readers.content import Outcome, Reader

__all__ = ["Outcome", "Reader", "compare_contents"]
