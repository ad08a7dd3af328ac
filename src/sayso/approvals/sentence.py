"""The question as text, for channels that have no page: a terminal, a chat, a client's dialog."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.approvals.question import Question
from sayso.schema import plain, quoted

_MOST_ARGUMENTS: Final = 20
_MOST_CHANGES: Final = 20
_LONGEST_VALUE: Final = 200
_TITLE_CHARACTERS: Final = 120
_DONE: Final = ("action", "target")


def ask(question: Question) -> str:
    """One sentence: who wants to run what, and where."""
    title = quoted(question.title, _TITLE_CHARACTERS)
    return f"May {quoted(question.client)} run {title} on {quoted(question.server)}?"


def tell(question: Question) -> list[str]:
    """All that a person needs to know, one line each, without a character that steers anything."""
    lines = [ask(question), f"level {question.level}: {question.reason} ({question.rule})"]
    if question.confirm:
        lines.append(f"the tool's author says: {_short(question.confirm)}")
    elif question.sentence:
        lines.append(question.sentence)
    lines += [f"  {name}: {value}" for name, value in _fields(question.arguments, _MOST_ARGUMENTS)]
    for name, value in _fields(question.extras, _MOST_ARGUMENTS):
        lines.append(f"  sent with it, {name}: {value}")
    if question.plan is not None:
        changes = question.plan["changes"]
        lines.append(f"it would change {question.plan['total']}:")
        lines += [f"  {_short(_change(one))}" for one in changes[:_MOST_CHANGES]]
    return [plain(line) for line in lines]


def _fields(arguments: Mapping[str, Any], most: int) -> list[tuple[str, str]]:
    found = [(_short(name), _short(_text(value))) for name, value in arguments.items()]
    more = len(found) - most
    return found if more <= 0 else [*found[:most], ("…", f"and {more} more")]


def _change(one: Any) -> str:
    """A change in words: what is done to what, and whatever else its author says of it."""
    if not isinstance(one, Mapping):
        return _text(one)
    change = cast("Mapping[str, Any]", one)
    done = [change[name] for name in _DONE if isinstance(change.get(name), str)]
    if len(done) != len(_DONE):
        return _text(change)
    rest = {name: value for name, value in change.items() if name not in _DONE}
    return " ".join([*done, *([_text(rest)] if rest else [])])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    """What is cut says how long it was: the end of a long value may be what matters."""
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:_LONGEST_VALUE]}… ({len(text):,} characters)"
