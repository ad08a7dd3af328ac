"""Writes the names and looks of secrets into sayso-confirm.js, from those that Python masks.

Usage: `.venv/bin/python tools/write_secrets.py`.
"""

import json
import re
from pathlib import Path
from typing import Final

from sayso.schema import COLOURS, LOOKS, PATTERNS, QUOTES, TABLE

SCRIPT = Path(__file__).resolve().parents[1] / "src/sayso/console/static/sayso-confirm.js"
START: Final = "const SECRETS = "
END: Final = ";\n// End of what is written.\n"

_PART: Final = re.compile(
    r"(?P<escaped>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<named>\(\?P<)"
    r"|(?P<possessive>(?<=[}*+])\+)|(?P<comment>\#[^\n]*)|(?P<blank>\s+)|."
)


def with_secrets(script: str) -> str:
    """Return the script with the table as it is now."""
    start = script.index(START) + len(START)
    return script[:start] + _table() + script[script.index(END) :]


def _table() -> str:
    patterns = PATTERNS | {"quotes": QUOTES, "colours": COLOURS}
    names = {name: _in_javascript(pattern) for name, pattern in patterns.items()}
    looks = [[name, *_in_javascript(pattern)] for name, pattern in LOOKS.items()]
    lines = [f"  {json.dumps(key)}: {_compact(value)}" for key, value in TABLE.items()]
    lines += [f"  {json.dumps(key)}: {_compact(value)}" for key, value in names.items()]
    lines += ['  "looks": [\n' + ",\n".join(f"    {_compact(look)}" for look in looks) + "\n  ]"]
    return "{\n" + ",\n".join(lines) + "\n}"


def _compact(value: object) -> str:
    # Two slashes in a script are a comment or an address, which the tests look for.
    return json.dumps(value, separators=(",", ":")).replace("//", "/\\u002f")


def _in_javascript(pattern: re.Pattern[str]) -> list[str]:
    """Return source and flags of a pattern, in the words of JavaScript.

    That knows no blanks and comments within one, and no possessive repetition, which here only
    saves time.
    """
    source = pattern.pattern.replace("(?i)", "", 1)
    flags = "gi" if pattern.flags & re.IGNORECASE else "g"
    is_verbose = bool(pattern.flags & re.VERBOSE)

    def said(at: re.Match[str]) -> str:
        kind = at.lastgroup
        if kind == "escaped":
            return {"\\ ": " ", "\\Z": "$", "\\s": "[ \\t-\\r]"}.get(at[0], at[0])
        if kind in ("comment", "blank"):
            return "" if is_verbose else at[0]
        return {"named": "(?<", "possessive": ""}.get(kind or "", at[0])

    return [_PART.sub(said, source), flags]


if __name__ == "__main__":
    SCRIPT.write_text(with_secrets(SCRIPT.read_text("utf-8")), "utf-8")
