"""Targets on the command line."""

import difflib
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sayso.connect.address import fault_of_url
from sayso.connect.config import is_config, read_config, read_entry
from sayso.connect.kinds import CommandTarget, Target, UrlTarget
from sayso.connect.naming import name_of_command, name_of_file, plain_name
from sayso.connect.saved import is_saved, read_saved, read_saved_lines
from sayso.errors import TargetError
from sayso.settings import fault_of_file, read_json

_PYTHON: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<object>.*))?", re.DOTALL)
_JSON: Final = re.compile(r"(?P<path>.+?\.json[cl]?)(?:#(?P<entry>.*))?", re.DOTALL | re.IGNORECASE)
_HOST_AND_PORT: Final = re.compile(r"[\w.-]+:\d+(?:/\S*)?|localhost(?:/\S*)?", re.ASCII)

_KINDS: Final = (
    "A target is server.py or server.py:object, -- and a command, an http(s) URL, a client's "
    "configuration (mcp.json) or one entry of it (mcp.json#name), or a saved tools/list."
)


def parse_target(
    words: Sequence[str], *, is_command: bool = False, command: str = "inspect"
) -> tuple[Target, ...]:
    """Return the target that command-line words name, or all targets of a configuration.

    With `is_command` the words came after `--` and are a command with its arguments. Files are
    read, nothing is run or called. Raises `TargetError` for an unknown target, with an example for
    the sayso command `command`, and `ConfigError` for a mistake in a file.

    >>> parse_target(["https://example.com/mcp"])
    (UrlTarget(name='example-com', url='https://example.com/mcp'),)
    >>> parse_target(["uvx", "mcp-server-git"], is_command=True)[0].name
    'mcp-server-git'
    """
    if is_command:
        return (_command(words),)
    if len(words) != 1:
        raise _not_one(words, command)
    word = words[0]
    if "://" in word:
        return (_url(word),)
    if match := _PYTHON.fullmatch(word):
        return (_python(match["path"], match["object"]),)
    if match := _JSON.fullmatch(word):
        return _json(match["path"], match["entry"])
    raise _no_target(word, command)


def _command(words: Sequence[str]) -> CommandTarget:
    if not words or not words[0]:
        raise TargetError("no command after --", fix="Write sayso inspect -- COMMAND.")
    return CommandTarget(name_of_command(words), words[0], tuple(words[1:]))


def _url(url: str) -> UrlTarget:
    if fault := fault_of_url(url):
        raise TargetError(fault[0], fix=fault[1])
    return UrlTarget(plain_name(urlsplit(url).hostname or ""), url)


def _python(path: str, name: str | None) -> CommandTarget:
    _check_file(path)
    if name is not None and not name.isidentifier():
        fix = f"Name a server, or a function that returns a server: {path}:mcp."
        raise TargetError(f"“{name}” cannot be the name of an object", where=path, fix=fix)
    launch = ["-m", "sayso.connect.launch", path]
    if name:
        launch.append(name)
    return CommandTarget(name_of_file(path), sys.executable, tuple(launch))


def _json(path: str, entry: str | None) -> tuple[Target, ...]:
    _check_file(path)
    if path.lower().endswith(".jsonl"):
        _refuse_entry(path, entry)
        return (read_saved_lines(path),)
    file = read_json(path)
    if is_saved(file.value) and not is_config(file.value):
        _refuse_entry(path, entry)
        return (read_saved(file),)
    if entry is None:
        return read_config(file)
    return (read_entry(file, entry),)


def _refuse_entry(path: str, entry: str | None) -> None:
    if entry is not None:
        what = f"“#{entry}” names an entry, but the file is a saved tools/list"
        raise TargetError(what, where=path, fix="Name the file alone.")


def _check_file(path: str) -> None:
    """Raise unless `path` is a file, and suggest similar names in its folder."""
    if what := fault_of_file(path):
        fix = _KINDS
        if near := _names_like(Path(path)):
            fix = f"Did you mean {', '.join(near)}?"
        raise TargetError(what, where=path, fix=fix)


def _names_like(file: Path) -> list[str]:
    try:
        found = sorted(other for other in file.parent.iterdir() if other.suffix == file.suffix)
    except OSError:
        return []
    by_stem = {other.stem: str(other) for other in found if other.name != file.name}
    return [by_stem[stem] for stem in difflib.get_close_matches(file.stem, by_stem, n=3)]


def _not_one(words: Sequence[str], command: str) -> TargetError:
    if not words:
        return TargetError("no target is given", fix=_KINDS)
    fix = f"Put -- before a command: sayso {command} -- {shlex.join(words)}."
    return TargetError(f"one target is expected, not {len(words)} words", fix=fix)


def _no_target(word: str, command: str) -> TargetError:
    if shutil.which(word):
        fix = f"To run a command, put -- before it: sayso {command} -- {shlex.quote(word)}."
    elif _HOST_AND_PORT.fullmatch(word):
        fix = f"Write http://{word} or https://{word}."
    elif fault_of_file(word) == "this is not a file":
        fix = f"Name a file, not a folder. {_KINDS}"
    elif fault_of_file(word) is None:
        runs = f"sayso {command} -- COMMAND {shlex.quote(word)}"
        fix = f"Name the command that runs this file: {runs}."
    elif " " in word and any(map(shutil.which, word.split(maxsplit=1)[:1])):
        fix = f"Write a command without quotes around it: sayso {command} -- {word}."
    elif re.fullmatch(r"[\w@-]+", word):
        fix = f"If it is a command, put -- before it: sayso {command} -- {word}. {_KINDS}"
    else:
        fix = _KINDS
    return TargetError(f"“{word}” is not a target", fix=fix)
