"""A commented starting policy for the tools of some servers.

Names of servers and tools come from strangers: each is escaped, and can end neither a comment nor a
string.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sayso.catalog import Tool
from sayso.intent import Level, Trust
from sayso.policy.conditions import escape_glob, is_glob
from sayso.policy.decision import Effect, Mode, decide_by_mode
from sayso.policy.document import Policy
from sayso.policy.format import RECEIPT_KEYS
from sayso.policy.visibility import seen_under
from sayso.settings import toml_comment, toml_key, toml_string

_MAX_TOOLS: Final = 200
"""The tools per server that the table shows; the strictest levels come first."""
_MAX_SHOWN: Final = 100
_MAX_NAME: Final = 200
"""The characters of a name: shown in a comment; written as a value."""

_HEAD: Final = """\
#:schema {schema}
# A policy for sayso: which calls run, which ask a person, and which are denied.
# Guide: {guide}
# Check it after each change: sayso policy check

# The decision if no rule matches. In guarded mode reads and most writes run. Destructive calls
# ask, and so do writes that are open-world and not idempotent. Other modes: observe, plan, strict,
# unattended.
mode = "guarded"

# How far each server's own hints count: untrusted (never), cautious (unless the tool's name or
# description contradicts them) or trusted (always).
[trust]
"""
_RULES: Final = """
# Rules. To use one, remove the # in front of its lines. If several match, deny wins over confirm,
# and confirm over allow.
"""


@dataclass(frozen=True, slots=True)
class ServerTools:
    """A server for a starting policy: its tools, or the `problem` because of which it has none."""

    name: str
    tools: Sequence[Tool] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A tool with its level, the source of that level, and what guarded mode does."""

    tool: Tool
    level: Level
    source: str
    asks: bool

    @classmethod
    def of(cls, tool: Tool) -> "_Row":
        resolved = seen_under(Policy(), tool).resolved
        deciding = resolved.read_only if resolved.level is Level.READ else resolved.destructive
        asks = decide_by_mode(Mode.GUARDED, resolved).effect is Effect.CONFIRM
        return cls(tool, resolved.level, str(deciding.source), asks)

    @property
    def is_nameable(self) -> bool:
        return _is_nameable(self.tool.name) and _is_nameable(self.tool.server)


def starting_policy(servers: Sequence[ServerTools], *, schema: str, guide: str) -> str:
    """Return the text of a policy for `servers`, with rules to uncomment that match their tools.

    `schema` is the address or path of the JSON Schema, for editors; `guide` is the address of the
    documentation.
    """
    rows = {server.name: sorted(map(_Row.of, server.tools), key=_order) for server in servers}
    sections = [_section(server, rows[server.name]) for server in servers]
    if not servers:
        sections = ['\n# crm = "trusted"\n']
    every = [row for of_server in rows.values() for row in of_server if row.is_nameable]
    head = _HEAD.format(schema=schema, guide=guide)
    return "".join([head, *sections, _RULES, *_examples(every)])


def _order(row: _Row) -> tuple[int, bool, str]:
    return -[*Level].index(row.level), not row.asks, row.tool.name


def _section(server: ServerTools, rows: Sequence[_Row]) -> str:
    lines = ["", f"# {toml_comment(server.name, _MAX_SHOWN)}: {_summary(server, rows)}"]
    if rows:
        lines.append("#   level        source    guarded  tool")
    for row in rows[:_MAX_TOOLS]:
        does = "asks" if row.asks else "runs"
        name = toml_comment(row.tool.name, _MAX_SHOWN)
        lines.append(f"#   {row.level:<11}  {row.source:<8}  {does:<7}  {name}")
    if len(rows) > _MAX_TOOLS:
        lines.append(f"#   … and {len(rows) - _MAX_TOOLS:,} more")
    if _is_trust_key(server.name):
        lines.append(f"{toml_key(server.name)} = {toml_string(Trust.CAUTIOUS)}")
    else:
        lines.append("# A policy cannot set the trust of this name, so cautious applies.")
    return "\n".join([*lines, ""])


def _summary(server: ServerTools, rows: Sequence[_Row]) -> str:
    if server.problem:
        return f"its tools are unknown ({toml_comment(server.problem, _MAX_NAME)})"
    return "1 tool" if len(rows) == 1 else f"{len(rows):,} tools"


def _is_trust_key(name: str) -> bool:
    """Return whether `name` under `[trust]` is this one server."""
    return _is_nameable(name) and not is_glob(name) and name != RECEIPT_KEYS


def _is_nameable(name: str) -> bool:
    """Return whether a policy can contain this name: TOML has no lone surrogates."""
    is_encodable = not any("\ud800" <= char <= "\udfff" for char in name)
    return bool(name.strip()) and len(name) <= _MAX_NAME and is_encodable


def _examples(rows: Sequence[_Row]) -> list[str]:
    """Return an example of each effect for the first tool that it suits, or one without a tool."""
    asking = [row for row in rows if row.asks]
    writing = [row for row in rows if row.level is Level.WRITE and not row.asks]
    reading = [row for row in rows if row.level is Level.READ]
    reason = 'reason = "a person does this by hand"'
    limits = "limits = { calls_per_minute = 3 }"
    chosen = [
        *(_rule("by-hand-only", Effect.DENY, _when(row), reason) for row in asking[:1]),
        *(_rule("at-most-three-a-minute", Effect.ALLOW, _when(row), limits) for row in asking[1:2]),
        *(_rule("asks-first", Effect.CONFIRM, _when(row)) for row in writing[:1]),
        *(
            _rule("not-for-guests", Effect.HIDE, _when(row, 'role = "guest"'))
            for row in reading[:1]
        ),
    ]
    return chosen or [_rule("every-write-asks", Effect.CONFIRM, 'when = { level = "write" }')]


def _when(row: _Row, *more: str) -> str:
    server = toml_string(escape_glob(row.tool.server))
    tool = toml_string(escape_glob(row.tool.name))
    return f"when = {{ {', '.join([f'server = {server}', f'tool = {tool}', *more])} }}"


def _rule(name: str, effect: Effect, *more: str) -> str:
    lines = ["[[rules]]", f'name = "{name}"', f'effect = "{effect}"', *more]
    return "\n" + "".join(f"# {line}\n" for line in lines)
