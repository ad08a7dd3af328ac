"""Sets of places in chains, written as ranges."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Spans = Mapping[str, Sequence[Sequence[int]]]


@dataclass(slots=True)
class Ranges:
    """Indexes by writer; for the writer `""`, sequence numbers of records in no chain."""

    spans: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )

    def add(self, spans: Spans) -> None:
        """Take in ranges, as a record's body holds them."""
        for writer, found in spans.items():
            mine = self.spans.setdefault(writer, [])
            mine.extend((first, last) for first, last in found)

    def holds(self, writer: str, index: int) -> bool:
        """Whether a place is in one of the ranges."""
        return any(first <= index <= last for first, last in self.spans.get(writer, ()))

    def after(self, upto: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """The ranges that reach beyond each writer's index."""
        kept = {
            writer: [span for span in spans if span[1] > upto.get(writer, 0)]
            for writer, spans in self.spans.items()
        }
        return {writer: spans for writer, spans in kept.items() if spans}


def spans_of(places: Iterable[tuple[str, int]]) -> dict[str, list[tuple[int, int]]]:
    """Places as ranges, as few as there can be."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for writer, index in sorted(places):
        mine = spans.setdefault(writer, [])
        if mine and mine[-1][1] == index - 1:
            mine[-1] = (mine[-1][0], index)
        else:
            mine.append((index, index))
    return spans
