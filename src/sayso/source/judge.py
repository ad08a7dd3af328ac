"""The judgement of one call of external code, by its name and arguments."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sayso.source import known
from sayso.source.report import Kind
from sayso.source.sql import Statement, is_sql, read_sql
from sayso.source.values import UNKNOWN, Trait, Value, place_of, reach

_LAST_WORD: Final = re.compile(r"([A-Za-z]+)[^A-Za-z]*$")
_WEB_CALL: Final = re.compile(r"\w+\.(?:api\.|requests\.)?[a-z_]+")
_SHELL: Final = re.compile(r"[|;&><`$\n]")
_SHOWN: Final = 70
_OWN_TABLES: Final = frozenset(["audit", "embeddings", "index", "metrics", "telemetry", "usage"])
_PLACES: Final[tuple[tuple[Trait, str], ...]] = (
    ("memory", "the target is in memory"),
    ("temporary", "the target is a temporary file"),
    ("own", "the target is the program's own: a cache, a log or a lock"),
)
_SQL_WORDS: Final = ("sql", "query", "statement", "operation", "command")
_STANDARD: Final = frozenset(sys.stdlib_module_names) - known.LOUD

Verdict = Literal["effect", "ignored", "unknown"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a call: an effect, an ignored call, or an unknown one."""

    verdict: Verdict
    what: str
    kind: Kind = Kind.EVALUATES
    why: str = ""
    verb: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call, with the values of its arguments."""

    node: ast.Call
    args: Sequence[Value]
    keywords: Mapping[str, Value]

    def argument_at(self, position: int, *names: str) -> Value | None:
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        if 0 <= position < len(self.args):
            return self.args[position]
        return None

    def has_literal(self, name: str, value: object) -> bool:
        return any(
            keyword.arg == name
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is value
            for keyword in self.node.keywords
        )

    @property
    def words(self) -> str:
        text = " ".join(ast.unparse(self.node).split())
        if len(text) <= _SHOWN:
            return text
        return f"{text[: _SHOWN - 1]}…"


def judge_function(dotted: str, call: Call) -> Iterator[Judgement]:
    """Judge a call of an external function."""
    root = dotted.partition(".")[0]
    if dotted in known.OPENERS:
        yield from _opening(call, 1, call.argument_at(0, "file", "name", "path"))
    elif dotted in known.FUNCTIONS:
        kind, position = known.FUNCTIONS[dotted]
        yield from _on_file(kind, call, call.argument_at(position, "dst", "path"))
    elif dotted in known.SPAWNERS:
        yield _spawn(call)
    elif dotted in known.CONNECTORS:
        yield from _connect(Kind.CONNECTS, call, call.argument_at(0, "host", "address", "uri"), "")
    elif dotted == "urllib.request.urlopen":
        yield from _open_url(call)
    elif dotted == "aiosmtplib.send":
        yield _mail(call)
    elif root in known.WEB and _WEB_CALL.fullmatch(dotted):
        yield from _web(call, dotted.rpartition(".")[2], UNKNOWN)
    elif not _is_quiet(root):
        yield Judgement("unknown", call.words, why=f"the effect of {dotted} is unknown")


def judge_method(receiver: Value, method: str, call: Call) -> Iterator[Judgement]:
    """Judge a call of a method of an external object."""
    root = receiver.type.partition(".")[0]
    last = receiver.type.rpartition(".")[2]
    if receiver.type in known.PATHS and method == "open":
        yield from _opening(call, 0, receiver)
    elif receiver.type in known.PATHS and method in known.PATH_METHODS:
        kind, position = known.PATH_METHODS[method]
        yield from _on_file(kind, call, _where(receiver, position, call, "target"))
    elif root in known.WEB and last in known.SESSIONS:
        yield from _web(call, method, receiver)
    elif receiver.type in known.MAILERS:
        if method in ("send_message", "sendmail"):
            yield _mail(call)
    elif method in known.EXECUTES or (method in known.MAY_EXECUTE and _has_sql(call)):
        yield from _execute(receiver, call)
    elif method in known.METHODS and not receiver.type.startswith("zipfile."):
        yield from _plain_method(receiver, method, call)
    elif receiver.type and not _is_quiet(root) and method not in known.OF_TEXT:
        yield Judgement("unknown", call.words, why=f"the effect of {receiver.type} is unknown")
    elif not receiver.type and method not in known.HARMLESS:
        yield Judgement("unknown", call.words, why="the object is unknown")


def _is_quiet(root: str) -> bool:
    own = ("builtins", "file", "statement")
    return root in _STANDARD or root in known.QUIET or root in known.WEB or root in own


def _plain_method(receiver: Value, method: str, call: Call) -> Iterator[Judgement]:
    kind, position = known.METHODS[method]
    if position is None:
        verb = "deletes" if kind is Kind.DELETES_ROWS else "writes"
        yield Judgement("effect", f"{verb} records: {call.words}", kind, verb=method)
        return
    where = _where(receiver, position, call, "path_or_buf", "path")
    if where is not None:
        yield from _on_file(kind, call, where)


def _where(receiver: Value, position: int, call: Call, *names: str) -> Value | None:
    """Return the argument that names the file, or the object itself for position -1."""
    if position < 0:
        return receiver
    return call.argument_at(position, *names)


def _on_file(kind: Kind, call: Call, where: Value | None) -> Iterator[Judgement]:
    place = where or UNKNOWN
    if kind in (Kind.WRITES_FILE, Kind.DELETES_FILE):
        for trait, why in _PLACES:
            if place.has(trait):
                yield Judgement("ignored", call.words, why=why)
                return
        if call.has_literal("exist_ok", value=True) and not place.has("argument"):
            yield Judgement("ignored", call.words, why="the call only creates a missing folder")
            return
    names = {
        Kind.WRITES_FILE: "writes files",
        Kind.DELETES_FILE: "deletes files",
        Kind.SIGNALS: "ends or signals a process",
    }
    yield Judgement("effect", f"{names.get(kind, 'runs text as code')}: {call.words}", kind)


def _opening(call: Call, position: int, where: Value | None) -> Iterator[Judgement]:
    mode = call.argument_at(position, "mode")
    if mode is None:
        return
    if mode.whole is None:
        yield Judgement("unknown", call.words, why="the mode is unknown")
    elif not set(mode.whole).isdisjoint("wax+"):
        for judged in _on_file(Kind.WRITES_FILE, call, where):
            what = f"opens a file for writing: {call.words}"
            yield Judgement(judged.verdict, what, judged.kind, judged.why)


def _has_sql(call: Call) -> bool:
    return any(value.text is not None and is_sql(value.text) for value in call.args[:1])


def _execute(receiver: Value, call: Call) -> Iterator[Judgement]:
    value = call.argument_at(0, *_SQL_WORDS) or UNKNOWN
    if value.text is None:
        yield Judgement("unknown", call.words, why="the statement is built at run time")
        return
    for statement in read_sql(value.text):
        if not statement.is_known:
            yield Judgement("unknown", call.words, why=f"the effect of {statement.verb} is unknown")
        elif statement.writes:
            yield _statement(receiver, statement, call)


def _statement(receiver: Value, statement: Statement, call: Call) -> Judgement:
    place = place_of(statement.table)
    if receiver.has("memory"):
        return Judgement("ignored", call.words, why="the database is in memory")
    if statement.is_setup:
        return Judgement("ignored", call.words, why="the SQL only creates missing tables")
    if place or not _OWN_TABLES.isdisjoint(re.findall("[a-z]+", statement.table.lower())):
        return Judgement(
            "ignored", call.words, why="the table is the program's own: a cache or a log"
        )
    kind = Kind.DELETES_ROWS if statement.deletes else Kind.WRITES_ROWS
    return Judgement(
        "effect",
        f"executes SQL: {statement.verb} {statement.table}".rstrip(),
        kind,
        verb=statement.verb,
    )


def _spawn(call: Call) -> Judgement:
    value = next(iter(call.args), UNKNOWN)
    argv: list[str | None] = []
    if value.items is not None:
        argv = [item.whole for item in value.items]
    elif value.whole is not None and not _SHELL.search(value.whole):
        argv = [argument.whole for argument in call.args]
        if len(argv) == 1:
            argv = [*value.whole.split()]
    program = (next(iter(argv), None) or "").rpartition("/")[2]
    if program and _only_reads(program, argv[1:]):
        return Judgement("ignored", call.words, why=f"{program} only reads with these arguments")
    what = f"starts {program or 'a program'}: {call.words}"
    return Judgement("effect", what, Kind.SPAWNS, verb=program)


def _only_reads(program: str, rest: Sequence[str | None]) -> bool:
    if rest and rest[0] in ("--version", "--help"):
        return True
    if program not in known.READING_PROGRAMS:
        return False
    words = known.READING_PROGRAMS[program]
    return words is None or bool(rest and rest[0] in words)


def _mail(call: Call) -> Judgement:
    return Judgement("effect", f"sends mail: {call.words}", Kind.MAILS, is_open=True)


def _open_url(call: Call) -> Iterator[Judgement]:
    target = call.argument_at(0, "url") or UNKNOWN
    verb = "GET"
    if call.argument_at(1, "data"):
        verb = "POST"
    if target.type == "urllib.request.Request" and target.items:
        verb = target.items[0].whole or verb
    yield from _connect(known.VERBS.get(verb, Kind.POSTS), call, target, verb)


def _web(call: Call, method: str, session: Value) -> Iterator[Judgement]:
    position = 0
    verb = method.upper()
    if method in ("request", "stream", "urlopen", "send", "build_request"):
        position = 1
        verb = ((call.argument_at(0, "method") or UNKNOWN).whole or "").upper()
    if verb not in known.VERBS:
        if method in ("request", "stream", "urlopen", "send"):
            yield Judgement("unknown", call.words, why="the HTTP method is unknown")
        elif method in ("ws_connect", "websocket"):
            yield from _connect(Kind.CONNECTS, call, call.argument_at(0, "url"), "")
        return
    url = call.argument_at(position, "url") or UNKNOWN
    if session.text and not (url.text and "://" in url.text):
        url = Value(text=session.text + (url.text or ""), is_whole=url.is_whole)
    yield from _connect(known.VERBS[verb], call, url, verb)


def _connect(kind: Kind, call: Call, url: Value | None, verb: str) -> Iterator[Judgement]:
    target = url or UNKNOWN
    if target.items:  # (host, port)
        target = target.items[0]
    url_reach = reach(target)
    if kind is Kind.POSTS and verb == "POST" and _only_asks(target, call):
        yield Judgement("unknown", call.words, why="a POST to this address may only query")
        kind = Kind.FETCHES
    if url_reach in ("loopback", "private") and kind in (Kind.FETCHES, Kind.CONNECTS):
        yield Judgement("ignored", call.words, why="the address is on this machine or network")
        return
    what = "connects"
    if verb:
        what = f"sends {verb}"
    if target.text:
        what += f" to {target.text}"
    yield Judgement("effect", f"{what}: {call.words}", kind, "", verb, url_reach == "open")


def _only_asks(url: Value, call: Call) -> bool:
    last = _LAST_WORD.search((url.text or "").partition("?")[0])
    body = call.keywords.get("json") or UNKNOWN
    names = {name for name, _ in body.table or ()}
    return bool(last and last[1].lower() in known.ASKING_POSTS) or "query" in names
