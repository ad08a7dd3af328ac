"""Mends a saved list in place: the tools that a fix changes are written anew, the rest stays.

Only edits that rules offer are made, and none says more than is declared already.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sayso.lint.rule import Edit, Finding
from sayso.lint.subject import as_object
from sayso.settings import JsonFile, Member, Step, members

_INDENT: Final = re.compile(r"\n([ \t]+)")


def edit(raw: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """A copy of a tool's entry with these changes; what is not named stays as it is.

    >>> edit({"name": "a"}, [Edit(("annotations", "title"), "A")])
    {'name': 'a', 'annotations': {'title': 'A'}}
    """
    found = dict(raw)
    for edit in edits:
        _put(found, edit.path, edit.value)
    return found


def fix_saved(
    file: JsonFile, written: str, steps: Sequence[Step], findings: Iterable[Finding]
) -> str:
    """`written`, the text of a saved list, with the edits that its findings offer.

    `file` is the same read, `steps` lead to the array of tools. A tool with a comment in it is
    left alone: written anew it would lose that.
    """
    wanted: dict[int, list[Edit]] = {}
    for finding in findings:
        if finding.edits and finding.index is not None:
            wanted.setdefault(finding.index, []).extend(finding.edits)
    if not wanted:
        return written
    found = {member.step: member for member in members(file.text, steps)}
    for index in sorted(wanted, reverse=True):
        written = _rewritten(file, written, found[index], wanted[index])
    return written


def _rewritten(file: JsonFile, written: str, member: Member, edits: list[Edit]) -> str:
    start = member.value_at
    end = member.end
    before = file.text[start:end]
    if before != written[start:end]:
        return written
    after = _dump(edit(json.loads(before), edits), before, _column(written, start))
    return written[:start] + after + written[end:]


def _dump(tool: Mapping[str, Any], like: str, column: str) -> str:
    """The tool laid out as it was: on one line, or with the indentation that it had."""
    keeps_ascii = like.isascii()
    if "\n" not in like:
        return json.dumps(tool, ensure_ascii=keeps_ascii)
    found = _INDENT.search(like)
    step = found[1].removeprefix(column) if found else "  "
    text = json.dumps(tool, ensure_ascii=keeps_ascii, indent=step or "  ")
    ending = "\r\n" if "\r\n" in like else "\n"
    return text.replace("\n", f"{ending}{column}")


def _column(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _put(found: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Set or take out the value at `path`; objects on the way are copied, and leave when empty."""
    key, *rest = path
    if not rest:
        if value is None:
            found.pop(key, None)
        else:
            found[key] = value
        return
    if value is None and not isinstance(found.get(key), Mapping):
        return
    below = dict(as_object(found.get(key)))
    _put(below, rest, value)
    if below or value is not None:
        found[key] = below
    else:
        found.pop(key, None)
