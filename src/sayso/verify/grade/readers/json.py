"""Readers of JSON and JSON Lines, which compare records by their keys."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

from sayso.trace import Loss
from sayso.verify.grade.readers.content import SAME, Outcome
from sayso.verify.grade.readers.text import decoded

KEYS: Final = ("id", "_id", "uuid", "key", "name", "slug", "path", "url", "email", "title")
"""Names of a key that identifies list elements, if every element has a unique value of it."""
OUTER: Final = 1
"""Keys down to this depth hold records. Deeper keys hold fields of records."""

Finding = tuple[Loss, str]


class JsonReader:
    """Compares two documents. The order of keys has no meaning; the order of a list has one."""

    name = "json"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        old = _parsed(decoded(before))
        new = _parsed(decoded(after))
        if _canonical(old) == _canonical(new):
            return SAME
        return _outcome(_differences(old, new, path="", depth=0))


class JsonLinesReader:
    """Compares one document per line. A new order of the lines is a change, but loses nothing."""

    name = "jsonl"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        old = _lines(before)
        new = _lines(after)
        if [_canonical(item) for item in old] == [_canonical(item) for item in new]:
            return SAME
        return _outcome(_lists(old, new, path="", depth=0))


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _lines(content: bytes) -> list[Any]:
    return [_parsed(line) for line in decoded(content).splitlines() if line.strip()]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _outcome(found: Iterator[Finding]) -> Outcome:
    findings = list(found)
    losses = [finding for finding in findings if finding[0] is Loss.LOST] or findings
    if not losses:
        return Outcome()
    loss, detail = losses[0]
    if len(losses) > 1:
        detail += f" and {len(losses) - 1} more"
    return Outcome(loss, detail)


def _differences(old: Any, new: Any, *, path: str, depth: int) -> Iterator[Finding]:
    if _is_object(old) and _is_object(new):
        yield from _objects(old, new, path=path, depth=depth)
    elif _is_list(old) and _is_list(new):
        yield from _lists(old, new, path=path, depth=depth)
    elif _canonical(old) != _canonical(new):
        if isinstance(old, dict | list) and old:
            yield Loss.LOST, f"{path or 'all'} lost"
        elif old not in (None, "", [], {}):
            yield Loss.OVERWROTE, f"{path or 'the value'} changed"


def _objects(
    old: Mapping[str, Any], new: Mapping[str, Any], *, path: str, depth: int
) -> Iterator[Finding]:
    for key, value in old.items():
        if key in new:
            yield from _differences(value, new[key], path=f"{path}/{key}", depth=depth + 1)
        elif value in (None, "", [], {}):
            continue
        elif depth < OUTER or isinstance(value, dict):
            yield Loss.LOST, f"{path}/{key} lost"
        else:
            yield Loss.OVERWROTE, f"{path}/{key} removed"


def _lists(old: Sequence[Any], new: Sequence[Any], *, path: str, depth: int) -> Iterator[Finding]:
    key = _key(old, new)
    if key is not None:
        now = {_canonical(item[key]): item for item in new}
        for item in old:
            where = f"{path}/{key}={item[key]}"
            if _canonical(item[key]) in now:
                after = now[_canonical(item[key])]
                yield from _differences(item, after, path=where, depth=max(depth, OUTER))
            else:
                yield Loss.LOST, f"{where} lost"
        return
    missing = Counter(map(_canonical, old)) - Counter(map(_canonical, new))
    if not missing:
        return
    if len(old) == len(new):
        for number, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from _in_place(first, second, path=f"{path}/{number}", depth=depth)
        return
    loss = Loss.OVERWROTE
    if depth <= OUTER or any(isinstance(item, dict) for item in old):
        loss = Loss.LOST
    yield (
        loss,
        f"{missing.total()} of {path or 'the list'} lost, such as {next(iter(missing))[:80]}",
    )


def _in_place(old: Any, new: Any, *, path: str, depth: int) -> Iterator[Finding]:
    if _is_object(old) and _is_object(new):
        is_other = bool(old) and not any(
            key in new and _canonical(value) == _canonical(new[key]) for key, value in old.items()
        )
        if is_other and len(old) > 1:
            yield Loss.LOST, f"{path} lost"
            return
    yield from _differences(old, new, path=path, depth=max(depth, OUTER))


def _key(old: Sequence[Any], new: Sequence[Any]) -> str | None:
    every = [*old, *new]
    if not old or not all(isinstance(row, dict) for row in every):
        return None
    for key in KEYS:
        is_everywhere = all(isinstance(row.get(key), str | int) for row in every)
        if is_everywhere and _is_unique(key, old) and _is_unique(key, new):
            return key
    return None


def _is_unique(key: str, rows: Sequence[Any]) -> bool:
    return len({_canonical(row[key]) for row in rows}) == len(rows)
