"""Files of environment variables, one `NAME=value` on a line (VS Code's `envFile`)."""

import re
from typing import Final

from sayso.errors import ConfigError
from sayso.settings import read_text

_LINE: Final = re.compile(
    r"""
    (?:export\s+)?
    (?P<name>[A-Za-z_][A-Za-z0-9_.]*) \s*=\s*
    (?: "(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>[^']*)' | (?P<bare>[^"'].*?)?? )
    \s* (?:(?<=\s)\#.*)?
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: str) -> dict[str, str]:
    r"""The variables a file sets; of a name that stands twice the last counts.

    Values may be bare, in single quotes (taken as they are) or in double quotes (with `\n`,
    `\t` and `\"`). Nothing is expanded. Raises `ConfigError` with the line of a mistake, and
    never shows the line itself.
    """
    found: dict[str, str] = {}
    for number, raw in enumerate(read_text(path).split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            fix = "Write NAME=value, with quotes around a value that begins or ends with a blank."
            raise ConfigError("this line sets no variable", where=f"{path}:{number}", fix=fix)
        found[match["name"]] = _value(match)
    return found


def _value(match: re.Match[str]) -> str:
    if (double := match["double"]) is not None:
        return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), double)
    return match["single"] or match["bare"] or ""
