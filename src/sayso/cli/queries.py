"""Many messages at once: which tools each selects, and how many of those it needs are there."""

import sys
from collections.abc import Iterable, Mapping
from json import dumps
from statistics import mean
from typing import TYPE_CHECKING, Any, Final, cast

from sayso.catalog import Entry, Groups, Selector, index_entry, ndcg, recall
from sayso.cli.surface import Answer
from sayso.connect import SavedTarget, Target
from sayso.errors import ConfigError, UsageError
from sayso.settings import JsonFile, read_json_lines

if TYPE_CHECKING:
    from sayso.cli.select import Bounds

_FORM: Final = 'A line is {"id": "…", "query": "…"}.'
_FIRST: Final = 5
_MOST: Final = 10


def entries_of(found: Iterable[tuple[Target, Answer]]) -> tuple[list[Entry], list[str]]:
    """What is listed, to select from, and what is wrong with entries that are no tools.

    A record of a file may have an id, which it is then known by, its `server`, its `category`, and
    its `inputSchema` under `schema`.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    for target, answer in found:
        for given in answer.entries:
            try:
                entries.append(_entry(target, given))
            except UsageError as error:
                problems.append(f"{target.name}: {error}")
    return entries, problems


def _entry(target: Target, given: object) -> Entry:
    if not isinstance(target, SavedTarget):
        return index_entry(given, server=target.name)
    record = _record(given)
    known = record.get("id")
    schema = record.get("schema")
    more: dict[str, Any] = {"inputSchema": schema} if isinstance(schema, dict) else {}
    is_record = isinstance(known, str)
    return index_entry(
        {**more, **record},
        server=_text(record.get("server")) or ("" if is_record else target.name),
        category=_text(record.get("category")),
        origin=known if is_record else "",
    )


def answer_queries(selector: Selector, bounds: "Bounds", path: str, *, is_scored: bool) -> int:
    """Print a line for each message of a file; what each needs is read only to score."""
    measured: list[tuple[float, float, float]] = []
    for file in read_json_lines(path):
        known, query = _read(file)
        chosen = bounds.select(selector, query, least=0).chosen
        names = [choice.entry.origin or choice.name for choice in chosen]
        sys.stdout.write(f"{dumps({'id': known, 'tools': names}, ensure_ascii=False)}\n")
        if is_scored and (groups := _groups(file)):
            measured.append(_measure(names, groups))
    if is_scored:
        _print_scores(measured)
    return 0


def _read(file: JsonFile) -> tuple[object, str]:
    record = _record(file.value)
    known = record.get("id")
    query = record.get("query")
    if not isinstance(known, str | int) or not isinstance(query, str):
        raise ConfigError("this is no query", where=file.where(), fix=_FORM)
    return known, query


def _groups(file: JsonFile) -> Groups:
    said: object = file.value.get("relevant")
    groups = cast("list[object]", said) if isinstance(said, list) else []
    return [cast("list[str]", group) for group in groups if isinstance(group, list)]


def _measure(names: list[str], groups: Groups) -> tuple[float, float, float]:
    return recall(names, groups, _FIRST), recall(names, groups, _MOST), ndcg(names, groups, _MOST)


def _print_scores(measured: list[tuple[float, float, float]]) -> None:
    if not measured:
        raise UsageError(
            "no query says what is relevant",
            fix='Give each "relevant": [["id", …], …]: for each need the tools that meet it.',
        )
    first, second, third = (mean(column) for column in zip(*measured, strict=True))
    sys.stdout.flush()
    sys.stderr.write(
        f"{len(measured)} queries: R@5 {first:.3f}, R@10 {second:.3f}, NDCG@10 {third:.3f}\n"
    )


def _record(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
