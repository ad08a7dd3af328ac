"""Corrected cursors and fields of cut results, with a notice about the remaining items.

A server's cursor continues after the last item of its list. In a cut list that cursor would skip
the items that sayso left out. So the cursor is replaced by one that continues after the kept items,
or removed. Fields that state whether the result is complete are corrected (`guard.completeness`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from sayso.guard.call import Resume
from sayso.guard.completeness import Accepts, corrected, is_paging, plain
from sayso.schema import Cut, Piece, ValuePath, at, put

_CURSORS: Final = frozenset(
    {
        *("cursor", "nextcursor", "endcursor", "next", "nextpage", "nextpagetoken", "pagetoken"),
        *("nexttoken", "nextoffset", "nextlink", "continuation", "continuationtoken", "nexturl"),
        *("nexthref", "nexturi", "nextpageurl", "nextpagelink", "nextpageuri", "nextpagecursor"),
        *("nextmarker", "nextkey", "nextstart", "nextindex", "nextid", "nextrecordsurl", "after"),
        *("odatanextlink", "nextcontinuationtoken", "continue", "lastevaluatedkey", "nextskip"),
        *("scrollid", "continuationkey", "continuationcursor", "resumetoken", "nextpagenumber"),
        *("aftercursor", "cursornext", "nextstarttoken", "nextposition", "nextbatch"),
    }
)
"""Names of cursor fields, in lower case and with letters only."""


def with_continuation(
    cut: Cut,
    accepts: Accepts,
    resume: Resume | None = None,
    *,
    schema: Mapping[str, Any] | None = None,
    items: Sequence[Any] | None = None,
) -> Cut:
    """Return a cut result with cursors that skip nothing, correct fields, and a notice.

    `accepts` checks a value against the tool's `schema`. `items` is the uncut list that `resume`
    names. Raises `CompletenessError` if the schema forces the result to state that it is complete.
    """
    notices: list[str] = []
    for piece in cut.pieces:
        if piece.is_text:
            continue
        resumed = _resumed(cut, piece, accepts, resume, items)
        value, sentence = resumed or _without_cursors(cut.value, piece, accepts)
        cut = replace(cut, value=value)
        notices.append(sentence)
    if texts := [piece for piece in cut.pieces if piece.is_text]:
        notices.append(_of_texts(texts))
    return replace(cut, value=corrected(cut, accepts, schema), notice=" ".join(notices))


def _resumed(
    cut: Cut, piece: Piece, accepts: Accepts, resume: Resume | None, items: Sequence[Any] | None
) -> tuple[Any, str] | None:
    if resume is None or piece.path != (resume.name,):
        return None
    if items is None:
        items = cast("Sequence[Any]", at(cut.value, piece.path))
    cursor = resume.cursor(items[: piece.kept])
    value = {**cut.value, resume.field: cursor}
    if cursor is None or not accepts(value):
        return None
    return value, (
        f"Showing the first {piece.kept} of {piece.total} from here on. For more make the same "
        f"call again, with {resume.field} as its {resume.argument}."
    )


def _of_texts(pieces: Sequence[Piece]) -> str:
    if len(pieces) > 1:
        return f"{len(pieces)} texts are cut; the end of each says how long it was."
    name = next((step for step in reversed(pieces[0].path) if isinstance(step, str)), None)
    subject = "The text" if name is None else f"“{name}”"
    return f"{subject} is cut to the first {pieces[0].kept} of {pieces[0].total} characters."


def _without_cursors(value: Any, piece: Piece, accepts: Accepts) -> tuple[Any, str]:
    left = piece.total - piece.kept
    notices = [f"Showing the first {piece.kept} of {piece.total}; the other {left} are left out."]
    for path in list(_cursors(value, piece.path)):
        name = path[-1]
        # Try `null` first, because it states that the list ends; otherwise remove the cursor.
        candidates = (put(value, path, None), _drop(value, path))
        fitting = [candidate for candidate in candidates if accepts(candidate)]
        if fitting:
            value = fitting[0]
            notices.append(f"“{name}” would have skipped them and is removed.")
        else:
            notices.append(f"“{name}” continues after them, so it skips them.")
    return value, " ".join([*notices, "Filter, or ask for fewer at a time."])


def _cursors(value: Any, path: ValuePath) -> Iterator[ValuePath]:
    """Yield the paths of the cursors of the list at `path`.

    Cursors are in the objects that contain the list, and in members such as `page_info`. If the
    list is inside an item of an outer list, cursors around the item belong to the outer list.
    """
    for depth in range(len(path) - 1, -1, -1):
        if not isinstance(path[depth], str):
            return
        yield from _cursors_in(at(value, path[:depth]), path[:depth], path[depth], 0)


def _cursors_in(
    holder: Any, place: ValuePath, left_out: str | int, depth: int
) -> Iterator[ValuePath]:
    for key, member in cast("Mapping[str, Any]", holder).items():
        if key == left_out:
            continue
        if _is_cursor(key, member):
            yield (*place, key)
        elif isinstance(member, Mapping) and (depth == 0 or is_paging(key)) and depth < _MAX_DEPTH:
            yield from _cursors_in(member, (*place, key), "", depth + 1)


_MAX_DEPTH: Final = 3
_LINKS: Final = frozenset({"href", "url", "uri"})


def _is_cursor(key: str, value: Any) -> bool:
    if plain(key) not in _CURSORS:
        return False
    if isinstance(value, Mapping):  # a link of JSON:API or HAL
        return not _LINKS.isdisjoint(cast("Mapping[str, Any]", value))
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _drop(value: Any, path: ValuePath) -> Any:
    holder = at(value, path[:-1])
    return put(value, path[:-1], {key: member for key, member in holder.items() if key != path[-1]})
