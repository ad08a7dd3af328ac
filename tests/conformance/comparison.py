"""What differs between two clients' answers, one of which went through sayso."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from sayso.catalog import SEPARATOR

Json = Any
META = "io.sayso/intent"

_TIME = re.compile(r"\d{1,2}:\d\d:\d\d [AP]M")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def differences(direct: Mapping[str, Json], through: Mapping[str, Json]) -> dict[str, str]:
    """Where the answers differ, by `step: path`, and how."""
    one, other = dict(_flat(_settled(direct), "")), dict(_flat(_settled(through), ""))
    return {
        place: f"{one.get(place, 'nothing')!s:.100} is now {other.get(place, 'nothing')!s:.100}"
        for place in sorted(one.keys() | other.keys())
        if one.get(place, ...) != other.get(place, ...)
    }


def unqualified(answers: Mapping[str, Json], server: str) -> dict[str, Json]:
    """The same answers with the names that the server gave; all must have begun with its own."""
    prefix = f"{server}{SEPARATOR}"
    for step in ("tools", "prompts"):
        for entry in answers[step]["result"][step]:
            assert entry["name"].startswith(prefix), entry["name"]
    return cast("dict[str, Json]", _replaced(answers, prefix))


def as_declared(answers: Mapping[str, Json]) -> dict[str, Json]:
    """The same answers with the hints that the server declared, which `_meta` must still hold."""
    entries = [_declared(one) for one in answers["tools"]["result"]["tools"]]
    result = {**answers["tools"]["result"], "tools": entries}
    return {**answers, "tools": {**answers["tools"], "result": result}}


def _declared(entry: Mapping[str, Json]) -> dict[str, Json]:
    meta = dict(entry["_meta"])
    annotations = meta.pop(META)["declared"]
    kept = {key: one for key, one in entry.items() if key not in ("_meta", "annotations")}
    return (
        kept
        | ({"annotations": annotations} if annotations is not None else {})
        | ({"_meta": meta} if meta else {})
    )


def _replaced(found: Json, text: str) -> Json:
    if isinstance(found, dict):
        return {key: _replaced(one, text) for key, one in cast("dict[str, Json]", found).items()}
    if isinstance(found, list):
        return [_replaced(one, text) for one in cast("list[Json]", found)]
    return found.replace(text, "") if isinstance(found, str) else found


def _settled(found: Json) -> Json:
    """Without what differs from one second to the next."""
    if isinstance(found, dict):
        entries = cast("dict[str, Json]", found)
        return {
            key: _settled(base64.b64decode(one).decode("latin-1") if key == "blob" else one)
            for key, one in entries.items()
        }
    if isinstance(found, list):
        return [_settled(one) for one in cast("list[Json]", found)]
    if isinstance(found, str):
        return _SESSION.sub("(a session)", _TIME.sub("(a time)", found))
    return found


def _flat(found: Json, place: str) -> Iterator[tuple[str, Json]]:
    """Each value with its place; entries of a list that have a name are placed by it."""
    if isinstance(found, dict) and found:
        for key, one in cast("dict[str, Json]", found).items():
            yield from _flat(one, f"{place}.{key}" if ": " in place else f"{place}{key}: ")
    elif isinstance(found, list) and found:
        for index, one in enumerate(cast("list[Json]", found)):
            name = cast("dict[str, Json]", one).get("name") if isinstance(one, dict) else None
            yield from _flat(one, f"{place}[{name or index}]")
    else:
        yield place, found
