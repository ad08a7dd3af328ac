"""The comparison of two contents of one file."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Protocol, TypeVar

from sayso.trace import Loss

MOST_ALIGNED: Final = 4_000
"""Longer sequences are compared without their order: each missing row counts as lost."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of comparing two contents: `loss` is the loss in the second content."""

    loss: Loss = Loss.NONE
    detail: str = ""
    is_same: bool = False


class Reader(Protocol):
    """A reader of one format. It raises `ValueError` for bytes of another format."""

    name: str

    def compare(self, before: bytes, after: bytes) -> Outcome: ...


SAME: Final = Outcome(is_same=True)


def compare_rows(
    before: Sequence[T], after: Sequence[T], *, is_alike: Callable[[T, T], bool], word: str
) -> Outcome:
    """Compare rows. A missing row counts as changed if a similar row is in its place, else as lost.

    Moved rows are not lost. `T` must be hashable.
    """
    if before == after:
        return SAME
    missing = Counter(before) - Counter(after)
    if not missing:
        return Outcome()
    changed = _replaced(before, after, missing=missing, is_alike=is_alike)
    lost = missing.total() - changed
    if lost:
        first = next(iter(missing))
        return Outcome(Loss.LOST, f"{lost} {word} lost, such as {str(first)[:80]}")
    return Outcome(Loss.OVERWROTE, f"{changed} {word} changed")


def _replaced(
    before: Sequence[T],
    after: Sequence[T],
    *,
    missing: Counter[T],
    is_alike: Callable[[T, T], bool],
) -> int:
    if max(len(before), len(after)) > MOST_ALIGNED:
        return 0
    added = Counter(after) - Counter(before)
    changed = 0
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for word, first, last, start, end in blocks:
        if word != "replace":
            continue
        old = [row for row in before[first:last] if row in missing]
        new = [row for row in after[start:end] if row in added]
        changed += sum(is_alike(before, other) for before, other in zip(old, new, strict=False))
    return min(changed, missing.total())
