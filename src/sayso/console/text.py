"""Text for pages: hidden characters made visible, times and durations."""

import json
import re
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup, escape

from sayso.schema import is_hidden

_TIME: Final = Markup('<time datetime="{}">{}</time>')
_ODD: Final = re.compile(r"[^ -~]")
_ODD_IN_BLOCK: Final = re.compile(r"[^ -~\t\n]")


def reveal(text: str) -> str:
    """Return one line of text, with its hidden characters as code points in angle quotes.

    >>> reveal(f"zero{chr(0x200B)}width").isprintable()
    True
    """
    return _ODD.sub(lambda match: _shown(match[0]), text)


def reveal_block(text: str) -> Markup:
    """Return multi-line text as HTML with hidden characters marked, except tabs and newlines."""
    parts: list[Markup] = []
    end = 0
    for match in _ODD_IN_BLOCK.finditer(text):
        if is_hidden(match[0]):
            parts += [escape(text[end : match.start()]), _MARKED.format(_shown(match[0]))]
            end = match.end()
    return Markup().join([*parts, escape(text[end:])])


def as_json(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as readable text.

    >>> as_json({"a": None})
    '{"a": null}'
    """
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def kept(text: str) -> Markup:
    """Return a person's input unchanged. Use it only for the field that the input came from."""
    return escape(text.encode(errors="replace").decode())


_MARKED: Final = Markup('<mark class="odd">{}</mark>')


@lru_cache(maxsize=4096)
def _shown(char: str) -> str:
    return f"\u2039U+{ord(char):04X}\u203a" if is_hidden(char) else char


def moment(at: float, now: float) -> Markup:
    """Return Unix seconds as a `time` element; the date is omitted if it is today."""
    then = datetime.fromtimestamp(at).astimezone()
    today = datetime.fromtimestamp(now).astimezone()
    shown = f"{then:%H:%M:%S}"
    if then.date() != today.date():
        shown = f"{then:%Y-%m-%d} {shown}"
    return _TIME.format(then.isoformat(timespec="seconds"), shown)


def lasting(seconds: float) -> str:
    """Return a duration in minutes and seconds, in the same form as `console.js`.

    >>> lasting(862), lasting(59.5), lasting(-3)
    ('14 min 22 s', '59 s', '0 s')
    """
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def roughly(seconds: float) -> str:
    """Return a duration in whole minutes, or in seconds if it is not a number of whole minutes.

    >>> roughly(300), roughly(90), roughly(1)
    ('5 minutes', '90 seconds', '1 second')
    """
    minutes, rest = divmod(round(seconds), 60)
    number, unit = round(seconds), "second"
    if minutes and not rest:
        number, unit = minutes, "minute"
    return f"{number} {unit}{'s' * (number != 1)}"
