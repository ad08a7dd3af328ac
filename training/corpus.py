"""What the inference learns from: real tools, how they were judged, and examples of our own."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

HERE: Final = Path(__file__).resolve().parent
CORPUS: Final = "SAYSO_CORPUS"
"""The variable that says where the corpus is: a folder with `hints/`."""
_FILES: Final = ("tools.jsonl", "more-tools.jsonl", "unannotated.jsonl")
WIRE: Final = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
WRITES: Final = (
    *("additive", "field_update", "state", "replacement", "irreversible", "arbitrary", "session"),
)
"""What a tool that writes may be (training/JUDGING.md)."""
LOSES: Final = ("replacement", "irreversible", "arbitrary")
"""The kinds after which something is lost."""
_SURE: Final = {1: 0.3, 2: 0.6, 3: 1.0}
_KEPT: Final = 3
"""One of so many families is kept aside and scored once, at the end."""
_ENOUGH: Final = 60
"""So many tools of one family count whole; of more, each counts less."""


@dataclass(frozen=True, slots=True)
class Case:
    """One tool to learn from.

    `weight` is how much it counts; `declared` is what its author said, `is_odd` whether that
    looks careless; `family` is who made it; `source` is the family, or the number of an example.
    """

    tool: Mapping[str, Any]
    family: str
    kind: str
    judged: Mapping[str, bool | None]
    weight: float
    declared: Mapping[str, bool | None]
    source: str
    is_odd: bool = False
    is_bare: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether its family is kept aside: none of its tools chose a word, feature or limit."""
        digest = hashlib.sha256(self.family.encode()).hexdigest()
        return bool(self.family) and int(digest, 16) % _KEPT == 0

    @property
    def is_agreed(self) -> bool:
        """Whether its author says no other of whether it reads than its judge."""
        return self.declared.get("read_only") in (None, self.judged["read_only"])


def folder() -> Path | None:
    """Where the corpus is, if it is anywhere."""
    place = os.environ.get(CORPUS)
    return Path(place) if place else None


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a file that has one on each line."""
    with path.open(encoding="utf-8") as text:
        yield from (cast("dict[str, Any]", json.loads(one)) for one in text)


def real(place: Path) -> list[Case]:
    """The tools of the corpus, as they were judged."""
    tools = [one for name in _FILES for one in lines(place / "hints" / name)]
    judged = {one["id"]: one for one in lines(HERE / "judgements.jsonl")}
    size = Counter(one["family"] for one in tools)
    return [
        Case(
            tool=one,
            family=one["family"],
            kind=judged[one["id"]]["kind"],
            judged={name: judged[one["id"]][name] for name in WIRE},
            weight=_SURE[judged[one["id"]]["sure"]]
            * min(1.0, (_ENOUGH / size[one["family"]]) ** 0.5),
            declared={name: one.get("labels", {}).get(key) for name, key in WIRE.items()},
            source=one["family"],
            is_odd=any(note.startswith("tool:") for note in one.get("suspect") or ()),
        )
        for one in tools
    ]


def examples() -> list[Case]:
    """Tools made up to show the rules of training/JUDGING.md, so that none rests on one server."""
    return [_example(one, at) for at, one in enumerate(lines(HERE / "examples.jsonl"))]


def _example(one: dict[str, Any], at: int) -> Case:
    names = [name[:-1] for name in one["parameters"]]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": [name[:-1] for name in one["parameters"] if name.endswith("!")],
    }
    reads = one["kind"] not in WRITES
    return Case(
        tool={"name": one["name"], "description": one["description"], "inputSchema": schema},
        family="",
        kind=one["kind"],
        judged={
            "read_only": reads,
            "destructive": None if reads else one["kind"] in LOSES,
            "idempotent": one["idempotent"],
            "open_world": one["open_world"],
        },
        weight=1.0,
        declared={},
        source=f"example {at // 2}",
    )
