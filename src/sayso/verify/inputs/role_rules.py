"""Rules that find the role of a parameter.

The last word of the parameter's name counts most, then its other words. The description is used
only if the name does not decide.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.catalog import word_list
from sayso.infer import verb_of
from sayso.verify.inputs.flattener import table_of, types_of
from sayso.verify.inputs.prose import said_of
from sayso.verify.inputs.roles import Meaning, Role, entity_of, kinds_of, words_of_tool


@dataclass(frozen=True, slots=True)
class _Features:
    """The features of a parameter that the rules use."""

    name: str
    words: tuple[str, ...]
    text: str
    schema: Mapping[str, Any]
    tool: tuple[str, ...]
    about: str
    siblings: frozenset[str]
    kinds: frozenset[str]

    @property
    def last(self) -> str:
        return "".join(self.words[-1:])

    def has(self, *words: str) -> bool:
        return any(word in self.words for word in words)

    def is_about(self, *words: str) -> bool:
        return any(word in self.tool for word in words)

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None


def role_of(name: str, schema: Mapping[str, Any], tool: Mapping[str, Any]) -> Meaning:
    """Return the role of a parameter. `schema` is flat; `tool` is an entry of `tools/list`.

    >>> role_of("customer_id", {"type": "string"}, {"name": "get_customer"})
    Meaning(role=<Role.ID: 'id'>, entity='customer')
    """
    param = _features_of(name, schema, tool)
    types = set(types_of(schema) or ("string",)) - {"null"}
    if types <= {"integer", "number"} and types:
        return _of_number(param)
    if types == {"array"}:
        item = table_of(schema.get("items"))
        described = {"description": schema.get("description"), **item}
        if types_of(item) == ("string",):
            return role_of(name, described, tool)
    if "string" not in types:
        return Meaning(None)
    return _of_text(param)


def _features_of(name: str, schema: Mapping[str, Any], tool: Mapping[str, Any]) -> _Features:
    whole = table_of(tool.get("inputSchema"))
    about = str(tool.get("description") or "")
    texts = [schema.get("title"), schema.get("description") or said_of(about, name)]
    return _Features(
        name=name.casefold(),
        words=tuple(word_list(name)),
        text=" ".join(text for text in texts if isinstance(text, str))[:600].casefold(),
        schema=schema,
        tool=tuple(words_of_tool(tool)),
        about=about[:400].casefold(),
        siblings=frozenset(sibling.casefold() for sibling in table_of(whole.get("properties"))),
        kinds=kinds_of(tool),
    )


_NUMBERS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.PORT: ("port",),
    Role.LATITUDE: ("lat", "latitude"),
    Role.LONGITUDE: ("lon", "lng", "longitude"),
    Role.LIMIT: ("limit", "top", "count", "max", "size", "take", "per"),
    Role.OFFSET: ("offset", "skip", "start"),
    Role.AMOUNT: ("amount", "price", "total", "quantity"),
}


_NUMBERED: Final = ("issue", "pull", "pr", "order", "customer", "ticket", "request", "invoice")


def _of_number(param: _Features) -> Meaning:
    is_numbered = param.last == "number" and param.has(*_NUMBERED)
    if param.last in ("id", "iid") or is_numbered:
        return _id(param)
    is_page = param.last == "page" and "per" not in param.words
    if is_page or param.words in (("page", "number"), ("page", "num")):
        return Meaning(Role.PAGE)
    found = (role for role, words in _NUMBERS.items() if param.has(*words))
    return Meaning(next(found, None))


def _of_text(param: _Features) -> Meaning:
    by_format = _FORMATS.get(str(param.schema.get("format", "")))
    if by_format is Role.ID and param.last == "id":
        return _id(param)
    if by_format not in (None, Role.ID):
        return Meaning(by_format)
    for rule in (_path_rule, _git_rule, _data_rule, _id_rule, _net_rule, _word_rule):
        found = rule(param)
        if found is Role.FILE and any("repo" in sibling for sibling in param.siblings):
            return Meaning(found, "repository")
        if isinstance(found, Meaning):
            return found
        if found is not None:
            return _of_clock(found, param)
    roles = (role for pattern, role in _PHRASES if param.says(pattern))
    return _of_clock(next(roles, None), param)


def _of_clock(role: Role | None, param: _Features) -> Meaning:
    if role is Role.TIME and param.says(r"\bhh:mm") and not param.says("yyyy"):
        return Meaning(Role.CLOCK)
    return Meaning(role)


_FORMATS: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("uri", "url", "iri"), Role.URL),
    "email": Role.EMAIL,
    "date": Role.DATE,
    "date-time": Role.TIME,
    "uuid": Role.ID,
    **dict.fromkeys(("hostname", "ipv4"), Role.HOST),
    "regex": Role.REGEX,
    **dict.fromkeys(("path", "file-path"), Role.FILE),
    "directory-path": Role.DIRECTORY,
}

_NEW: Final = frozenset(
    ["destination", "dest", "output", "out", "new", "save", "export", "to", "target"]
)
_DIRECTORIES: Final = frozenset(["dir", "directory", "folder", "root", "cwd", "workdir"])
_FILE_KINDS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.WORKBOOK: ("excel", "workbook", "xlsx", "sheet", "worksheet", "spreadsheet"),
    Role.DOCUMENT: ("docx", "word"),
    Role.PDF: ("pdf",),
    Role.IMAGE: ("image", "photo", "picture", "png", "screenshot", "ocr"),
    Role.DATABASE: ("db", "sqlite", "database"),
    Role.MAILBOX: ("mbox", "maildir", "mailbox"),
    Role.CALENDAR: ("ics", "ical", "calendar"),
}


def _path_rule(param: _Features) -> Role | Meaning | None:
    is_path = _is_path(param)
    if param.has("repo", "repository") and (is_path or param.last in ("dir", "folder")):
        return Role.REPOSITORY
    if is_path and param.is_about("git") and not (param.kinds & {"add"} and "init" in param.tool):
        return _of_git(param)
    if param.last in _DIRECTORIES:
        return _new_or(param, Role.NEW_DIRECTORY, Role.DIRECTORY)
    if not is_path or param.says(r"\b(json|xml|url|api) ?path\b"):
        return None
    for role, words in _FILE_KINDS.items():
        mentions = rf"{_FILE_WORDS.get(role, '(?!)')}|\.({'|'.join(words)})\b"
        if param.has(*words) or param.is_about(*words) or param.says(mentions):
            if role is Role.WORKBOOK and _is_new(param):
                return Role.NEW_WORKBOOK
            return role
    if _is_directory(param):
        return _new_or(param, Role.NEW_DIRECTORY, Role.DIRECTORY)
    return _new_or(param, Role.NEW_FILE, Role.FILE)


_FILE_WORDS: Final[Mapping[Role, str]] = {
    Role.WORKBOOK: r"\b(excel|workbook|xlsx)\b",
    Role.DOCUMENT: r"\b(word document|docx)\b",
    Role.PDF: r"\bpdf (file|document)\b",
    Role.DATABASE: r"\bsqlite\b",
}


def _of_git(param: _Features) -> Role | Meaning:
    """Return the role of a git tool's path: the repository, or a file in it."""
    is_file = param.has("file", "filepath", "filename") or "paths" in param.name
    is_plain = param.words == ("path",) and not param.says(r"\bfile\b")
    if (is_plain or param.last in _DIRECTORIES) and not is_file:
        return Role.REPOSITORY
    return Meaning(Role.FILE, "repository")


def _is_path(param: _Features) -> bool:
    if param.has("path", "filepath", "pathname") or param.last in ("file", "filename"):
        return True
    if param.words[-2:] == ("file", "name") or param.words in (("fname",), ("fp",)):
        return True
    is_end = param.words in (("source",), ("destination",), ("src",), ("dst",), ("dest",))
    return is_end and ("file" in param.about or param.is_about("file", "directory"))


def _is_directory(param: _Features) -> bool:
    if param.has(*_DIRECTORIES) or param.is_about("directory", "directorie", "folder", "tree"):
        return True
    if param.says(r"\bfile\b"):
        return False
    return param.says(r"\b(directory|folder)\b") or param.is_about("list", "ls", "search", "find")


def _is_new(param: _Features) -> bool:
    if param.words[0] in _NEW or param.last in _NEW:
        return True
    makes = bool({"create", "new", "mkdir", "make"} & set(param.tool))
    return makes and not param.is_about("sheet", "worksheet", "chart", "table", "comment")


def _new_or(param: _Features, new: Role, old: Role) -> Role:
    return new if _is_new(param) else old


_GIT_NAMES: Final = [(word,) for word in ("target", "source", "base", "head", "tag", "object")]


def _git_rule(param: _Features) -> Role | None:
    is_git = param.is_about("git", "branch", "commit") or "git" in param.about
    if param.last in ("branch", "branche") or param.words[-2:] == ("branch", "name"):
        makes = param.kinds & {"add"} and not param.has("base", "from", "source", "start", "target")
        if makes and "checkout" not in param.tool:
            return Role.NEW_BRANCH
        return Role.BRANCH
    if param.last in ("sha", "ref", "revision", "commit", "treeish", "committish"):
        return Role.REF
    if is_git and param.words in _GIT_NAMES:
        return Role.REF
    if is_git and param.words in (("repo",), ("repository",)) and "owner" not in param.siblings:
        return Role.REPOSITORY
    return None


def _data_rule(param: _Features) -> Role | None:
    is_sql = param.says(r"\bsql\b") or "sql" in param.about or param.is_about("sql", "sqlite")
    if param.has("sql") or (is_sql and param.words in (("query",), ("statement",))):
        return Role.SQL
    if param.last in ("table", "tablename") or param.words[-2:] == ("table", "name"):
        return Role.TABLE
    if param.last in ("column", "field") or param.words[-2:] == ("column", "name"):
        return Role.COLUMN
    if param.has("sheet", "worksheet", "tab") and param.last in (
        "sheet",
        "worksheet",
        "tab",
        "name",
    ):
        return Role.SHEET
    if param.words[-2:] == ("cell", "range") or param.last == "range":
        return Role.RANGE
    is_place = param.last in ("at", "anchor", "position") and param.says(r"\bcell\b")
    if param.has("cell") or is_place:
        return Role.CELL
    if param.words in (("db",), ("database",)) and (is_sql or param.says(r"\bpath\b|\bfile\b")):
        return Role.DATABASE
    return None


def _id(param: _Features) -> Meaning:
    return Meaning(Role.ID, entity_of(param.words) or entity_of(param.tool))


def _id_rule(param: _Features) -> Meaning | None:
    if param.last in ("id", "identifier", "uid", "uuid", "iid", "guid", "slug", "arn"):
        return _id(param)
    if param.says(r"^(the )?(unique )?(id|identifier|uuid) of\b"):
        return _id(param)
    if param.last == "name" and len(param.words) > 1 and not param.has("file", "user", "host"):
        return Meaning(Role.NAME, entity_of(param.words))
    return None


_LAST: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.URL: ("url", "uri", "link", "href", "endpoint", "website", "webhook", "homepage"),
    Role.HOST: ("host", "hostname", "ip", "domain"),
    Role.PORT: ("port",),
    Role.EMAIL: ("email", "recipient", "cc", "bcc", "mail"),
}
_WORDS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.ZONE: ("timezone", "tz"),
    Role.LANGUAGE: ("language", "lang", "locale"),
    Role.COUNTRY: ("country",),
    Role.DATE: ("date", "day", "birthday", "deadline"),
    Role.TIME: ("time", "datetime", "timestamp", "since", "until", "before", "after", "at"),
    Role.REGEX: ("regex", "regexp"),
    Role.GLOB: ("glob", "wildcard"),
    Role.CURSOR: ("cursor", "token", "skiptoken"),
    Role.LIMIT: ("limit", "top", "count"),
    Role.OFFSET: ("offset", "skip"),
    Role.PAGE: ("page",),
    Role.QUERY: ("query", "search", "q", "keyword", "term", "question", "prompt"),
    Role.EXPRESSION: ("expression", "formula", "expr"),
    Role.COMMAND: ("command", "cmd"),
    Role.CODE: ("code", "script", "snippet"),
    Role.JSON: ("json",),
    Role.COLOR: ("color", "colour"),
    Role.SECRET: ("password", "secret", "apikey"),
    Role.TITLE: ("title", "subject", "headline", "heading"),
    Role.MESSAGE: ("message", "comment", "note", "reason", "summary", "observation"),
    Role.CONTENT: ("content", "text", "body", "markdown", "html", "description", "paragraph"),
    Role.FORMAT: ("format", "mime"),
    Role.NAME: ("name", "username", "title", "label", "author"),
}


def _net_rule(param: _Features) -> Role | None:
    is_mail = param.is_about("mail", "email") or "mail" in param.about
    is_mail = is_mail and param.words in (("to",), ("from",))
    if param.words[-2:] == ("time", "zone"):
        return Role.ZONE
    if param.last in _LAST[Role.EMAIL] or is_mail:
        return Role.EMAIL
    for role, words in _LAST.items():
        if param.last in words:
            return role
    return None


def _word_rule(param: _Features) -> Role | Meaning | None:
    if param.last == "pattern":
        if param.says(r"\bglob\b|\*\.") or "glob" in param.about:
            return Role.GLOB
        return Role.REGEX
    if param.last == "token" and not param.has("page", "next", "continuation", "skip", "cursor"):
        return Role.SECRET
    if param.words[:1] in (("old",), ("find",)) and param.last in ("text", "string", "str"):
        return Role.QUERY
    for role, words in _WORDS.items():
        if param.last in words:
            if role is Role.NAME:
                return Meaning(role, entity_of(param.tool))
            return role
    if _is_entity(param):
        return Meaning(Role.ID, param.last)
    return None


_LEAST_ENTITY: Final = 4
"""The minimum length of an entity. Shorter words are mostly languages or protocols: `sql`."""


def _is_entity(param: _Features) -> bool:
    """Return whether a parameter is named like its tool's subject: `customer` of `get_customer`."""
    is_long = len(param.last) >= _LEAST_ENTITY
    return (
        len(param.words) == 1 and is_long and param.last in param.tool and not verb_of(param.last)
    )


_PHRASES: Final = (
    (
        r"\b(absolute|relative|full)? ?path (to|of) (the |a |an )?(directory|folder)\b",
        Role.DIRECTORY,
    ),
    (r"\b(file ?path|path (to|of)|path where)\b", Role.FILE),
    (r"^(the |a |an )?(full |base |absolute )?(url|uri)\b|\burls? (of|to)\b", Role.URL),
    (r"\be-?mail address", Role.EMAIL),
    (r"\biana\b|\btime ?zone\b", Role.ZONE),
    (r"\biso[- ]?8601|\brfc ?3339|date[- ]?time|\btimestamp\b", Role.TIME),
    (r"yyyy-mm-dd", Role.DATE),
    (r"\bregular expression\b|\bregex\b", Role.REGEX),
    (r"\bglob\b", Role.GLOB),
    (r"\bsql\b", Role.SQL),
    (r"\bjson (string|object|array|text)\b|\bjson-encoded\b", Role.JSON),
    (r"^(the )?(unique )?\w+ (id|identifier)\b", Role.ID),
    (r"\bsearch (query|term|text|string)\b", Role.QUERY),
    (r"\bname of\b", Role.NAME),
)
