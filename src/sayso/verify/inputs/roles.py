"""What a parameter means, told by its name, title, description and format, its tool and siblings.

A role is what the seeded world and what earlier calls gave can fill. The name counts most, its
last word before the others; the description only settles what a name leaves open.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sayso.catalog import word_list
from sayso.infer import KINDS, NOUNS, READS, verb_of
from sayso.verify.inputs.flattener import table_of, types_of
from sayso.verify.inputs.prose import said_of


class Role(StrEnum):
    """What a parameter is for."""

    FILE = "file"
    NEW_FILE = "new_file"
    DIRECTORY = "directory"
    NEW_DIRECTORY = "new_directory"
    REPOSITORY = "repository"
    BRANCH = "branch"
    NEW_BRANCH = "new_branch"
    REF = "ref"
    DATABASE = "database"
    TABLE = "table"
    COLUMN = "column"
    SQL = "sql"
    WORKBOOK = "workbook"
    NEW_WORKBOOK = "new_workbook"
    SHEET = "sheet"
    RANGE = "range"
    CELL = "cell"
    DOCUMENT = "document"
    IMAGE = "image"
    PDF = "pdf"
    MAILBOX = "mailbox"
    CALENDAR = "calendar"
    ID = "id"
    URL = "url"
    HOST = "host"
    PORT = "port"
    EMAIL = "email"
    DATE = "date"
    TIME = "time"
    CLOCK = "clock"
    ZONE = "zone"
    LANGUAGE = "language"
    COUNTRY = "country"
    QUERY = "query"
    REGEX = "regex"
    GLOB = "glob"
    LIMIT = "limit"
    OFFSET = "offset"
    PAGE = "page"
    CURSOR = "cursor"
    JSON = "json"
    CODE = "code"
    COMMAND = "command"
    EXPRESSION = "expression"
    NAME = "name"
    TITLE = "title"
    CONTENT = "content"
    MESSAGE = "message"
    FORMAT = "format"
    COLOR = "color"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    AMOUNT = "amount"
    SECRET = "secret"  # noqa: S105 - the name of a role


PATHS: Final = frozenset(
    [
        Role.FILE, Role.NEW_FILE, Role.DIRECTORY, Role.NEW_DIRECTORY, Role.REPOSITORY,
        Role.DATABASE, Role.WORKBOOK, Role.NEW_WORKBOOK, Role.DOCUMENT, Role.IMAGE, Role.PDF,
        Role.MAILBOX, Role.CALENDAR,
    ]
)  # fmt: skip
IN_WORLD: Final = PATHS | frozenset(
    [
        Role.BRANCH, Role.NEW_BRANCH, Role.REF, Role.TABLE, Role.COLUMN, Role.SQL, Role.SHEET,
        Role.RANGE, Role.CELL, Role.ID, Role.URL, Role.HOST, Role.PORT,
    ]
)  # fmt: skip
"""Roles whose values mean something only where they are: an example of a schema is not there."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The role of a parameter; `entity` is what an id or a name is of, in the singular.

    >>> role_of("customer_id", {"type": "string"}, {"name": "get_customer"})
    Meaning(role=<Role.ID: 'id'>, entity='customer')
    """

    role: Role | None
    entity: str = ""


@dataclass(frozen=True, slots=True)
class _Features:
    """A parameter as the rules see it."""

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
    """The role of the parameter `name` with a flat `schema` of a tool of `tools/list`."""
    features = _features_of(name, schema, tool)
    types = set(types_of(schema) or ("string",)) - {"null"}
    if types <= {"integer", "number"} and types:
        return _of_number(features)
    if types == {"array"}:
        item = table_of(schema.get("items"))
        said = {"description": schema.get("description"), **item}
        if types_of(item) == ("string",):
            return role_of(name, said, tool)
    if "string" not in types:
        return Meaning(None)
    return _of_text(features)


def words_of_tool(tool: Mapping[str, Any]) -> list[str]:
    """The words of a tool's name, in the singular."""
    return word_list(str(tool.get("name", "")))


def kinds_of(tool: Mapping[str, Any]) -> frozenset[str]:
    """What the verbs of a tool's name do: `read`, `add`, `set`, `destroy` and so on.

    A verb that is a noun as often counts only where no other does.
    """
    verbs = [verb for word in words_of_tool(tool) if (verb := verb_of(word))]
    sure = [verb for verb in verbs if verb not in NOUNS] or verbs[:1]
    return frozenset(kind for verb in sure for kind in KINDS[verb])


def is_reader(tool: Mapping[str, Any]) -> bool:
    """Whether a tool reads, by its name."""
    kinds = kinds_of(tool)
    return not kinds or (bool(kinds & READS) and "destroy" not in kinds)


def entity_of(words: Iterable[str]) -> str:
    """What a name is about: its last word that is no verb and says no kind of value."""
    left = [word for word in words if word not in _KINDS_OF_VALUE]
    nouns = [word for word in left if verb_of(word) is None or word in NOUNS]
    return (nouns or [""])[-1]


_KINDS_OF_VALUE: Final = frozenset(
    """
    all by data detail for from id identifier info item iid key list name new number of record
    slug the to uid uuid with target source batch multiple single many
    """.split()
)


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


def _of_number(features: _Features) -> Meaning:
    if features.last in ("id", "iid") or (features.last == "number" and _is_numbered(features)):
        return _id(features)
    is_page = features.last == "page" and "per" not in features.words
    if is_page or features.words in (("page", "number"), ("page", "num")):
        return Meaning(Role.PAGE)
    found = (role for role, words in _NUMBERS.items() if features.has(*words))
    return Meaning(next(found, None))


def _is_numbered(features: _Features) -> bool:
    return features.has("issue", "pull", "pr", "order", "customer", "ticket", "request", "invoice")


def _of_text(features: _Features) -> Meaning:
    by_format = _FORMATS.get(str(features.schema.get("format", "")))
    if by_format is Role.ID and features.last == "id":
        return _id(features)
    if by_format not in (None, Role.ID):
        return Meaning(by_format)
    for rule in (_path_rule, _git_rule, _data_rule, _id_rule, _net_rule, _word_rule):
        found = rule(features)
        if found is Role.FILE and any("repo" in sibling for sibling in features.siblings):
            return Meaning(found, "repository")
        if isinstance(found, Meaning):
            return found
        if found is not None:
            return _of_clock(found, features)
    return _of_clock(_from_text(features), features)


def _of_clock(role: Role | None, features: _Features) -> Meaning:
    """A time of day, where that and no day is asked for."""
    if role is Role.TIME and features.says(r"\bhh:mm") and not features.says("yyyy"):
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

_NEW: Final = frozenset("destination dest output out new save export to target".split())
_DIRECTORIES: Final = frozenset("dir directory folder root cwd workdir".split())
_FILE_KINDS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.WORKBOOK: ("excel", "workbook", "xlsx", "sheet", "worksheet", "spreadsheet"),
    Role.DOCUMENT: ("docx", "word"),
    Role.PDF: ("pdf",),
    Role.IMAGE: ("image", "photo", "picture", "png", "screenshot", "ocr"),
    Role.DATABASE: ("db", "sqlite", "database"),
    Role.MAILBOX: ("mbox", "maildir", "mailbox"),
    Role.CALENDAR: ("ics", "ical", "calendar"),
}


def _path_rule(features: _Features) -> Role | Meaning | None:
    is_path = _is_path(features)
    if features.has("repo", "repository") and (is_path or features.last in ("dir", "folder")):
        return Role.REPOSITORY
    if (
        is_path
        and features.is_about("git")
        and not (features.kinds & {"add"} and "init" in features.tool)
    ):
        return _of_git(features)
    if features.last in _DIRECTORIES:
        return _new_or(features, Role.NEW_DIRECTORY, Role.DIRECTORY)
    if not is_path or features.says(r"\b(json|xml|url|api) ?path\b"):
        return None
    for role, words in _FILE_KINDS.items():
        if features.has(*words) or features.is_about(*words) or _speaks_of(features, role, words):
            if role is Role.WORKBOOK and _is_new(features):
                return Role.NEW_WORKBOOK
            return role
    if _is_directory(features):
        return _new_or(features, Role.NEW_DIRECTORY, Role.DIRECTORY)
    return _new_or(features, Role.NEW_FILE, Role.FILE)


_FILE_WORDS: Final[Mapping[Role, str]] = {
    Role.WORKBOOK: r"\b(excel|workbook|xlsx)\b",
    Role.DOCUMENT: r"\b(word document|docx)\b",
    Role.PDF: r"\bpdf (file|document)\b",
    Role.DATABASE: r"\bsqlite\b",
}


def _speaks_of(features: _Features, role: Role, words: tuple[str, ...]) -> bool:
    by_name = role in _FILE_WORDS and features.says(_FILE_WORDS[role])
    return by_name or features.says(rf"\.({'|'.join(words)})\b")


def _of_git(features: _Features) -> Role | Meaning:
    """A tool of git takes the repository's path, and files that lie in it."""
    is_file = features.has("file", "filepath", "filename") or "paths" in features.name
    is_plain = features.words == ("path",) and not features.says(r"\bfile\b")
    if (is_plain or features.last in _DIRECTORIES) and not is_file:
        return Role.REPOSITORY
    return Meaning(Role.FILE, "repository")


def _is_path(features: _Features) -> bool:
    if features.has("path", "filepath", "pathname") or features.last in ("file", "filename"):
        return True
    if features.words[-2:] == ("file", "name") or features.words in (("fname",), ("fp",)):
        return True
    is_end = features.words in (("source",), ("destination",), ("src",), ("dst",), ("dest",))
    return is_end and ("file" in features.about or features.is_about("file", "directory"))


def _is_directory(features: _Features) -> bool:
    if features.has(*_DIRECTORIES) or features.is_about(
        "directory", "directorie", "folder", "tree"
    ):
        return True
    if features.says(r"\bfile\b"):
        return False
    return features.says(r"\b(directory|folder)\b") or features.is_about(
        "list", "ls", "search", "find"
    )


def _is_new(features: _Features) -> bool:
    if features.words[0] in _NEW or features.last in _NEW:
        return True
    makes = bool({"create", "new", "mkdir", "make"} & set(features.tool))
    return makes and not features.is_about("sheet", "worksheet", "chart", "table", "comment")


def _new_or(features: _Features, new: Role, old: Role) -> Role:
    return new if _is_new(features) else old


_GIT_NAMES: Final = [(word,) for word in ("target", "source", "base", "head", "tag", "object")]


def _git_rule(features: _Features) -> Role | None:
    is_git = features.is_about("git", "branch", "commit") or "git" in features.about
    if features.last in ("branch", "branche") or features.words[-2:] == ("branch", "name"):
        makes = features.kinds & {"add"} and not features.has(
            "base", "from", "source", "start", "target"
        )
        if makes and "checkout" not in features.tool:
            return Role.NEW_BRANCH
        return Role.BRANCH
    if features.last in ("sha", "ref", "revision", "commit", "treeish", "committish"):
        return Role.REF
    if is_git and features.words in _GIT_NAMES:
        return Role.REF
    if (
        is_git
        and features.words in (("repo",), ("repository",))
        and "owner" not in features.siblings
    ):
        return Role.REPOSITORY
    return None


def _data_rule(features: _Features) -> Role | None:
    is_sql = (
        features.says(r"\bsql\b") or "sql" in features.about or features.is_about("sql", "sqlite")
    )
    if features.has("sql") or (is_sql and features.words in (("query",), ("statement",))):
        return Role.SQL
    if features.last in ("table", "tablename") or features.words[-2:] == ("table", "name"):
        return Role.TABLE
    if features.last in ("column", "field") or features.words[-2:] == ("column", "name"):
        return Role.COLUMN
    if features.has("sheet", "worksheet", "tab") and features.last in (
        "sheet",
        "worksheet",
        "tab",
        "name",
    ):
        return Role.SHEET
    if features.words[-2:] == ("cell", "range") or features.last == "range":
        return Role.RANGE
    is_place = features.last in ("at", "anchor", "position") and features.says(r"\bcell\b")
    if features.has("cell") or is_place:
        return Role.CELL
    if features.words in (("db",), ("database",)) and (
        is_sql or features.says(r"\bpath\b|\bfile\b")
    ):
        return Role.DATABASE
    return None


def _id(features: _Features) -> Meaning:
    return Meaning(Role.ID, entity_of(features.words) or entity_of(features.tool))


def _id_rule(features: _Features) -> Meaning | None:
    if features.last in ("id", "identifier", "uid", "uuid", "iid", "guid", "slug", "arn"):
        return _id(features)
    if features.says(r"^(the )?(unique )?(id|identifier|uuid) of\b"):
        return _id(features)
    if (
        features.last == "name"
        and len(features.words) > 1
        and not features.has("file", "user", "host")
    ):
        return Meaning(Role.NAME, entity_of(features.words))
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


def _net_rule(features: _Features) -> Role | None:
    if features.words[-2:] == ("time", "zone"):
        return Role.ZONE
    if features.last in _LAST[Role.EMAIL] or (
        features.words in (("to",), ("from",)) and _is_mail(features)
    ):
        return Role.EMAIL
    for role, words in _LAST.items():
        if features.last in words:
            return role
    return None


def _is_mail(features: _Features) -> bool:
    return features.is_about("mail", "email") or "mail" in features.about


def _word_rule(features: _Features) -> Role | Meaning | None:
    if features.last == "pattern":
        if features.says(r"\bglob\b|\*\.") or "glob" in features.about:
            return Role.GLOB
        return Role.REGEX
    if features.last == "token" and not features.has(
        "page", "next", "continuation", "skip", "cursor"
    ):
        return Role.SECRET
    if features.words[:1] in (("old",), ("find",)) and features.last in ("text", "string", "str"):
        return Role.QUERY
    for role, words in _WORDS.items():
        if features.last in words:
            if role is Role.NAME:
                return Meaning(role, entity_of(features.tool))
            return role
    if _is_entity(features):
        return Meaning(Role.ID, features.last)
    return None


_LEAST_ENTITY: Final = 4
"""What is shorter is mostly the name of a language or a protocol: `sql`, `api`."""


def _is_entity(features: _Features) -> bool:
    """Whether a parameter is named as what its tool is about: `customer` of `get_customer`."""
    is_long = len(features.last) >= _LEAST_ENTITY
    return (
        len(features.words) == 1
        and is_long
        and features.last in features.tool
        and not verb_of(features.last)
    )


_SAID: Final = (
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


def _from_text(features: _Features) -> Role | None:
    for pattern, role in _SAID:
        if features.says(pattern):
            return role
    return None
