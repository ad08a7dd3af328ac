"""PostgreSQL's stream of row changes (logical replication protocol, version 1)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from struct import unpack_from
from typing import Any, Final

from sayso.verify.observe.tables import Difference, Key, Row, Table

UNCHANGED: Final = object()
"""A large value that an update did not change, so PostgreSQL does not send it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table of the stream."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row before and after a change, or `None`. Both are `None` for a truncation."""

    relation: Relation
    before: Row | None
    after: Row | None


@dataclass(slots=True)
class NetChange:
    """All changes of one table combined, by the rows' keys."""

    columns: tuple[str, ...]
    rows: dict[Key, tuple[Row | None, Row | None]] = field(
        default_factory=dict[Key, tuple[Row | None, Row | None]]
    )
    is_truncated: bool = False


def read_changes(messages: Iterable[bytes]) -> Iterator[RowChange]:
    """Yield the changes of rows in the messages, in order."""
    relations: dict[int, Relation] = {}
    for message in messages:
        tag = message[:1]
        if tag == b"R":
            number, relation = _relation(message)
            relations[number] = relation
        elif tag in (b"I", b"U", b"D"):
            relation = relations[unpack_from(">I", message, 1)[0]]
            yield _row_change(relation, message)
        elif tag == b"T":
            count = unpack_from(">I", message, 1)[0]
            for number in unpack_from(f">{count}I", message, 6):
                yield RowChange(relations[number], None, None)


def net_changes(
    changes: Iterable[RowChange], keys: Mapping[str, tuple[str, ...]]
) -> dict[str, NetChange]:
    """Combine all changes by table. A row that was inserted and then removed is no change."""
    found: dict[str, NetChange] = {}
    for number, change in enumerate(changes):
        relation = change.relation
        net = found.setdefault(relation.name, NetChange(relation.columns))
        places = [relation.columns.index(key) for key in keys.get(relation.name, ())]
        _add(net, change, places=places, number=number)
    return found


def difference_of(name: str, net: NetChange, key: tuple[str, ...]) -> Difference:
    """Return the combined changes of the table `name` as a `Difference`."""
    width = len(key)
    rows = [(known[:width], before, after) for known, (before, after) in net.rows.items()]
    return Difference(
        Table(name, net.columns, key, has_rowid=False),
        [(known, after) for known, before, after in rows if before is None and after is not None],
        [(known, before) for known, before, after in rows if after is None and before is not None],
        [
            (known, before, after)
            for known, before, after in rows
            if before is not None and after is not None and before != after
        ],
    )


def _add(net: NetChange, change: RowChange, *, places: list[int], number: int) -> None:
    if change.before is None and change.after is None:
        net.is_truncated = True
        net.rows.clear()
        return
    first: Row | None = None
    if change.before is not None:
        known = _known(net, change.before, places=places, number=number)
        first = net.rows.pop(known, (change.before, None))[0]
    if change.after is None:
        if first is not None and change.before is not None:
            net.rows[_key(change.before, places, number)] = (first, None)
        return
    key = _key(change.after, places, number)
    if change.before is None and key in net.rows:
        first = net.rows[key][0]
    net.rows[key] = (first, change.after)


def _known(net: NetChange, row: Row, *, places: list[int], number: int) -> Key:
    """Return the key of an existing row. Without a primary key, use the key of an equal row."""
    if places:
        return _key(row, places, number)
    alike = (key for key, (_, after) in net.rows.items() if after == row)
    return next(alike, (number,))


def _key(row: Row, places: list[int], number: int) -> Key:
    return tuple(row[place] for place in places) if places else (number,)


def _relation(message: bytes) -> tuple[int, Relation]:
    number = unpack_from(">I", message, 1)[0]
    schema, offset = _string(message, 5)
    name, offset = _string(message, offset)
    count = unpack_from(">H", message, offset + 1)[0]
    offset += 3
    columns: list[str] = []
    for _ in range(count):
        column, offset = _string(message, offset + 1)
        offset += 8
        columns.append(column)
    return number, Relation(f"{schema}.{name}", tuple(columns))


def _row_change(relation: Relation, message: bytes) -> RowChange:
    before: Row | None = None
    after: Row | None = None
    offset = 5
    while offset < len(message):
        part = message[offset : offset + 1]
        row, offset = _tuple(message, offset + 1)
        if part == b"N":
            after = row
        else:
            before = row
    if after is not None and before is not None:
        after = tuple(
            old if new is UNCHANGED else new for old, new in zip(before, after, strict=True)
        )
    if after is not None and before is None and message[:1] == b"U":
        # The stream has the old row only for a table with a replica identity.
        before = ("?",) * len(after)
    return RowChange(relation, before, after)


def _tuple(message: bytes, offset: int) -> tuple[Row, int]:
    count = unpack_from(">H", message, offset)[0]
    offset += 2
    values: list[Any] = []
    for _ in range(count):
        sort = message[offset : offset + 1]
        offset += 1
        if sort in (b"t", b"b"):
            size = unpack_from(">I", message, offset)[0]
            offset += 4
            values.append(message[offset : offset + size].decode("utf-8", errors="replace"))
            offset += size
        else:
            values.append(UNCHANGED if sort == b"u" else None)
    return tuple(values), offset


def _string(message: bytes, offset: int) -> tuple[str, int]:
    end = message.index(b"\0", offset)
    return message[offset:end].decode("utf-8", errors="replace"), end + 1
