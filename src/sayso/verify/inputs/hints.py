"""The hints file sayso.toml, for facts that the verifier cannot guess."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from sayso.errors import ConfigError, MistakesError
from sayso.settings import (
    Document,
    Items,
    Json,
    Key,
    Named,
    Report,
    Schema,
    Table,
    Text,
    kind,
    nearest,
    read_document,
)

FILE: Final = "sayso.toml"
_ADDRESS: Final = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}")
_MOST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class ToolHints:
    """Hints on one tool: sets of `arguments` to try first, or a reason to `skip` the tool."""

    arguments: tuple[Mapping[str, Any], ...] = ()
    skip: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class VerifyHints:
    """Hints on a run, from the file `where`. `own` are paths of the server's own state.

    `allow` are addresses that the server may reach. `order` names the tools to call first.
    """

    tools: Mapping[str, ToolHints] = field(default_factory=dict[str, ToolHints])
    allow: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    where: str = FILE

    def of(self, tool: str) -> ToolHints:
        """Return the hints on a tool, or empty ones if the file does not name the tool."""
        return self.tools.get(tool) or ToolHints()

    def check(self, names: Iterable[str]) -> None:
        """Raise `MistakesError` if the file names a tool that the server does not have."""
        known = sorted(names)
        wrong = [
            ConfigError(
                f"the server has no tool “{name}”",
                where=f"{self.where}:{hints.line}",
                fix=nearest(name, known),
            )
            for name, hints in self.tools.items()
            if name not in known
        ]
        if wrong:
            raise MistakesError(wrong)


@dataclass(frozen=True, slots=True)
class _Arguments:
    """A table of arguments for a call."""

    def check(self, value: object, path: tuple[str | int, ...], report: Report) -> None:
        if isinstance(value, dict):
            Json().check(cast("dict[str, object]", value), path, report)
        else:
            report(path, f"this must be a table of arguments, not {kind(value)}", None)

    def schema(self) -> Schema:
        return {"type": "object"}


_TOOL: Final = Table(
    {
        "arguments": Key(Items(_Arguments()), "complete arguments for the tool's first calls"),
        "skip": Key(Text("a reason"), "the reason why the tool is not called"),
    },
    least=1,
)
_VERIFY: Final = Table(
    {
        "allow": Key(Items(Text("host:port", _ADDRESS)), "addresses that the server may reach"),
        "own": Key(Items(Text()), "paths of the server's own state"),
        "order": Key(Items(Text()), "tools that are called first, in this order"),
        "tools": Key(Named(_TOOL), "hints on single tools"),
    },
)
HINTS: Final = Table({"verify": Key(_VERIFY, "facts that the verifier cannot guess")})


def load_hints(text: str, where: str = FILE) -> VerifyHints:
    r"""Read hints from text; raise `MistakesError` with every mistake and its line.

    >>> load_hints('[verify.tools.pay]\nskip = "it costs"').of("pay").skip
    'it costs'
    """
    document = read_document(text, where, HINTS, MistakesError)
    table: Mapping[str, Any] = document.sound(document.value).get("verify", {})
    _check(document, table)
    document.finish()
    return VerifyHints(
        tools={
            name: ToolHints(
                tuple(entry.get("arguments", ())),
                entry.get("skip", ""),
                document.line_of(("verify", "tools", name)),
            )
            for name, entry in table.get("tools", {}).items()
        },
        allow=tuple(table.get("allow", ())),
        own=tuple(table.get("own", ())),
        order=tuple(table.get("order", ())),
        where=where,
    )


def read_hints(path: Path | None) -> VerifyHints:
    """Read the file at `path`; without a path, return empty hints. Raises `ConfigError`."""
    if path is None:
        return VerifyHints()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise ConfigError(what, where=str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigError("the file cannot be read: it is not UTF-8", where=str(path)) from error
    return load_hints(text, str(path))


def _check(document: Document, table: Mapping[str, Any]) -> None:
    """Report mistakes that the file's schema cannot find."""
    for index, address in enumerate(table.get("allow", ())):
        if int(address.rsplit(":", 1)[1]) > _MOST_PORT:
            document.report(
                ("verify", "allow", index), f"“{address}”: the port is above {_MOST_PORT}"
            )
    for name, entry in table.get("tools", {}).items():
        if "skip" in entry and "arguments" in entry:
            what = f"“{name}” has both skip and arguments"
            document.report(("verify", "tools", name, "skip"), what, "Keep one of them.")
