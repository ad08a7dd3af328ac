"""What is said of the items that a cut left out, and how a caller gets them.

A cursor that came with a list goes on after its last item. Where the list was cut, that would skip
what left, so the cursor is replaced by one that goes on after what is still there, or taken out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from avow.guard.call import Resume
from avow.schema import Cut
from avow.schema.truncate import Path

Accepts = Callable[[Any], bool]
"""Whether a value is what its tool promised."""

_CURSORS: Final = frozenset(
    {
        *("cursor", "nextcursor", "endcursor", "next", "nextpage", "nextpagetoken", "pagetoken"),
        *("nexttoken", "nextoffset", "nextlink", "continuation", "continuationtoken"),
    }
)
"""How servers call the place where a list goes on, without case and signs."""


def with_rest(cut: Cut, accepts: Accepts, resume: Resume | None = None) -> tuple[Any, str]:
    """A value that was cut, with a cursor that skips nothing, and a sentence about the rest."""
    if resume is not None and is_of(resume, cut):
        cursor = resume.cursor(cut.value[resume.name])
        whole = {**cut.value, resume.field: cursor}
        if cursor is not None and accepts(whole):
            return whole, (
                f"Showing the first {cut.kept} of {cut.total} from here on. For more make the same "
                f"call again, with {resume.field} as its {resume.argument}."
            )
    return _without_cursors(cut, accepts)


def is_of(resume: Resume, cut: Cut) -> bool:
    """Whether it is this list that was cut."""
    return cut.is_cut and cut.path == (resume.name,)


def _without_cursors(cut: Cut, accepts: Accepts) -> tuple[Any, str]:
    value, left = cut.value, cut.total - cut.kept
    said = [f"Showing the first {cut.kept} of {cut.total}; the other {left} are left out."]
    for path in list(_cursors(value, cut.path)):
        name = path[-1]
        # Where the schema wants one, no cursor is the schema's own word for the end, if it has it.
        fitting = [one for one in (_put(value, path, None), _drop(value, path)) if accepts(one)]
        if fitting:
            value = fitting[0]
            said.append(f"“{name}” would have skipped them and is taken out.")
        else:
            said.append(f"“{name}” goes on after them, so it skips them.")
    return value, " ".join([*said, "Filter, or ask for fewer at a time."])


def _cursors(value: Any, path: Path) -> Iterator[Path]:
    """Where beside the list at `path` it is said how to go on after it.

    That is in the objects which hold it, and in those beside it (`page_info`, `pagination`). What
    is around an item of another list goes on with that one.
    """
    for depth in range(len(path) - 1, -1, -1):
        if not isinstance(path[depth], str):
            return
        holder = cast("Mapping[str, Any]", _at(value, path[:depth]))
        for key, one in holder.items():
            if key == path[depth]:
                continue
            if isinstance(one, Mapping):
                inside = cast("Mapping[str, Any]", one).items()
                yield from ((*path[:depth], key, k) for k, v in inside if _is_cursor(k, v))
            elif _is_cursor(key, one):
                yield (*path[:depth], key)


def _is_cursor(key: str, value: Any) -> bool:
    is_place = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return is_place and re.sub(r"[^a-z]", "", key.lower()) in _CURSORS


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(value: Any, path: Path, new: Any) -> Any:
    *outer, last = path
    return _changed(value, tuple(outer), lambda one: {**one, last: new})


def _drop(value: Any, path: Path) -> Any:
    *outer, last = path
    return _changed(value, tuple(outer), lambda one: {k: v for k, v in one.items() if k != last})


def _changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    step, *rest = path
    inner = _changed(value[step], tuple(rest), change)
    if isinstance(step, str):
        return {**value, step: inner}
    return [inner if index == step else one for index, one in enumerate(value)]
