"""Inferred hints, combined with second opinions of a language model."""

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import anyio

from sayso.catalog import fingerprint
from sayso.cli.terminal import plain, say, working
from sayso.cli.tool_reading import Answer
from sayso.errors import ConfigError, SaysoError, UsageError
from sayso.extras import install_fix
from sayso.infer import Opinion, Reader, guess, join, opinion_of, question, understand
from sayso.intent import Guess, HintName

_MAX_CONCURRENT: Final = 4
_PYDANTIC_AI: Final = "pydantic-ai:"

Guesser = Callable[[object], dict[HintName, Guess]]


def make_guesser(
    found: Sequence[object], threshold: float | None, reader: str | None, place: str | None
) -> Guesser:
    """Return a function that infers the hints of an entry of `tools/list`.

    The file `place` caches opinions. If the reader fails on a tool, a message reports it and only
    the inferred hints count. Raises `ConfigError` if the file cannot be read, and `UsageError` for
    an unknown reader.
    """
    opinions: Mapping[str, Opinion] = {}
    if reader is not None or place is not None:
        entries = [
            tool for answer in found if isinstance(answer, Answer) for tool in answer.entries
        ]
        with working("Asking for second opinions …"):
            opinions = anyio.run(_gather, entries, reader, place)

    def claimed(entry: object) -> dict[HintName, Guess]:
        if not isinstance(entry, Mapping):
            return {}
        tool = cast("Mapping[str, Any]", entry)
        guesses = guess(tool, threshold=threshold)
        opinion = opinions.get(fingerprint(tool)) if opinions else None
        return guesses if opinion is None else join(guesses, opinion)

    return claimed


async def _gather(
    entries: Sequence[object], reader: str | None, place: str | None
) -> Mapping[str, Opinion]:
    """Return the opinions about entries of `tools/list`, by fingerprint."""
    known: dict[str, Opinion] = {}
    if place:
        known = _read(Path(place))
    if reader is None:
        return known
    ask = _load_reader(reader)
    wanted = _unknown(entries, known)
    limit = anyio.CapacityLimiter(_MAX_CONCURRENT)

    async def learn(mark: str, tool: Mapping[str, Any]) -> None:
        async with limit:
            opinion = await _ask(ask, tool)
        if opinion is not None:
            known[mark] = opinion
            if place:
                _append(Path(place), mark, tool, opinion)

    async with anyio.create_task_group() as tasks:
        for mark, tool in wanted.items():
            tasks.start_soon(learn, mark, tool)
    return known


def _unknown(
    entries: Sequence[object], known: Mapping[str, Opinion]
) -> dict[str, Mapping[str, Any]]:
    tools = [cast("Mapping[str, Any]", entry) for entry in entries if isinstance(entry, Mapping)]
    marked = {fingerprint(tool): tool for tool in tools}
    return {mark: tool for mark, tool in marked.items() if mark not in known}


async def _ask(ask: Reader, tool: Mapping[str, Any]) -> Opinion | None:
    name = str(tool.get("name"))
    try:
        answer = ask(question(tool))
        if inspect.isawaitable(answer):
            answer = await answer
        return understand(str(answer))
    except SaysoError as error:
        say(plain(f"{name}: no second opinion, {error.what}"))
    except Exception as error:  # noqa: BLE001 - a reader is foreign code
        say(plain(f"{name}: no second opinion, the reader failed: {type(error).__name__}"))
    return None


def _load_reader(name: str) -> Reader:
    if name.startswith(_PYDANTIC_AI):
        return _pydantic_ai(name.removeprefix(_PYDANTIC_AI))
    module, _, function = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # as with `python -m`
    try:
        reader = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        fix = "Write pydantic-ai:MODEL, or module:function for a module that Python can import."
        raise UsageError(f"{name!r} not found", where="--reader", fix=fix) from error
    if not callable(reader):
        raise UsageError(f"{name!r} is not callable", where="--reader")
    return cast("Reader", reader)


def _pydantic_ai(model: str) -> Reader:
    try:
        agent = cast("Any", import_module("pydantic_ai")).Agent(model)
    except ImportError as error:
        what = "pydantic-ai is not installed"
        raise UsageError(what, where="--reader", fix=install_fix("pydantic-ai")) from error

    async def read(asked: str) -> str:
        return str((await agent.run(asked)).output)

    return read


def _read(place: Path) -> dict[str, Opinion]:
    if not place.exists():
        return {}
    known: dict[str, Opinion] = {}
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("the file cannot be read", where=str(place)) from error
    for number, line in enumerate(lines, start=1):
        try:
            raw: dict[str, Any] = json.loads(line)
            known[raw["fingerprint"]] = opinion_of(raw["opinion"])
        except (ValueError, KeyError, TypeError, UsageError) as error:
            fix = "Delete the line or the file; sayso asks the model again."
            raise ConfigError("invalid opinion", where=f"{place}:{number}", fix=fix) from error
    return known


def _append(place: Path, mark: str, tool: Mapping[str, Any], opinion: Opinion) -> None:
    line = {"fingerprint": mark, "name": tool.get("name"), "opinion": opinion.to_dict()}
    with place.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
