"""A question as text, for terminals, chats and clients' dialogs."""

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
    """Return the question in one sentence."""
    title = quoted(question.title, _TITLE_CHARACTERS)
    return f"May {quoted(question.client)} run {title} on {quoted(question.server)}?"


def tell(question: Question) -> list[str]:
    """Return the question with its details, as lines without control characters."""
    lines = [ask(question), f"level {question.level}: {question.reason} ({question.rule})"]
    if question.confirm:
        lines.append(f"the tool's author says: {_short(question.confirm)}")
    elif question.sentence:
        lines.append(question.sentence)
    lines += [f"  {name}: {value}" for name, value in _fields(question.arguments, _MOST_ARGUMENTS)]
    for name, value in _fields(question.extras, _MOST_ARGUMENTS):
        lines.append(f"  other input, {name}: {value}")
    if question.plan is not None:
        changes = question.plan["changes"]
        lines.append(f"the call would change {question.plan['total']}:")
        lines += [f"  {_short(_change(change))}" for change in changes[:_MOST_CHANGES]]
    return [plain(line) for line in lines]


def _fields(arguments: Mapping[str, Any], limit: int) -> list[tuple[str, str]]:
    fields = [(_short(name), _short(_text(value))) for name, value in arguments.items()]
    more = len(fields) - limit
    if more > 0:
        fields[limit:] = [("…", f"and {more} more")]
    return fields


def _change(value: Any) -> str:
    """Return a change as text: action, target and other fields."""
    if not isinstance(value, Mapping):
        return _text(value)
    change = cast("Mapping[str, Any]", value)
    done = [change[name] for name in _DONE if isinstance(change.get(name), str)]
    if len(done) != len(_DONE):
        return _text(change)
    rest = {name: value for name, value in change.items() if name not in _DONE}
    if rest:
        done.append(_text(rest))
    return " ".join(done)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    # Show the full length, because the part that is cut off may matter.
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:_LONGEST_VALUE]}… ({len(text):,} characters)"
