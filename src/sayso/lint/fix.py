"""Fix a saved tool list. Only tools with an edit are rewritten."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sayso.lint.rule import Edit, Finding
from sayso.schema import object_of
from sayso.settings import JsonFile, Member, Step, members

_INDENT: Final = re.compile(r"\n([ \t]+)")


def edit(raw: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """Return a copy of a tool's entry with these edits.

    >>> edit({"name": "a"}, [Edit(("annotations", "title"), "A")])
    {'name': 'a', 'annotations': {'title': 'A'}}
    """
    copy = dict(raw)
    for edit in edits:
        _put(copy, edit.path, edit.value)
    return copy


def fix_saved(
    file: JsonFile, written: str, steps: Sequence[Step], findings: Iterable[Finding]
) -> str:
    """Return `written`, the text of a saved list, with the edits of `findings` made.

    `file` is the same text, parsed, and `steps` the path to its array of tools. A tool that
    contains a comment stays unchanged, because rewriting it would delete the comment.
    """
    edits: dict[int, list[Edit]] = {}
    for finding in findings:
        if finding.edits and finding.index is not None:
            edits.setdefault(finding.index, []).extend(finding.edits)
    if not edits:
        return written
    tools = {member.step: member for member in members(file.text, steps)}
    for index in sorted(edits, reverse=True):
        written = _rewritten(file, written, tools[index], edits[index])
    return written


def _rewritten(file: JsonFile, written: str, member: Member, edits: list[Edit]) -> str:
    start = member.value_at
    end = member.end
    before = file.text[start:end]
    if before != written[start:end]:
        return written
    after = _dump(edit(json.loads(before), edits), before, _column(written, start))
    return written[:start] + after + written[end:]


def _dump(tool: Mapping[str, Any], original: str, column: str) -> str:
    """Serialize the tool like its `original` text: on one line, or with the same indentation."""
    keeps_ascii = original.isascii()
    if "\n" not in original:
        return json.dumps(tool, ensure_ascii=keeps_ascii)
    match = _INDENT.search(original)
    step = match[1].removeprefix(column) if match else "  "
    text = json.dumps(tool, ensure_ascii=keeps_ascii, indent=step or "  ")
    ending = "\r\n" if "\r\n" in original else "\n"
    return text.replace("\n", f"{ending}{column}")


def _column(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _put(node: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Set or remove the value at `path`. Copy the objects along the path; remove empty ones."""
    key, *rest = path
    if not rest:
        if value is None:
            node.pop(key, None)
        else:
            node[key] = value
        return
    if value is None and not isinstance(node.get(key), Mapping):
        return
    below = dict(object_of(node.get(key)))
    _put(below, rest, value)
    if below or value is not None:
        node[key] = below
    else:
        node.pop(key, None)
