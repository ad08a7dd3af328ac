"""What files of known formats hold, so that bytes can be told from meaning: a reader each."""

from avow.verify.grade.readers.choice import compare_contents
from avow.verify.grade.readers.content import Outcome, Reader

__all__ = ["Outcome", "Reader", "compare_contents"]
