"""Roles of parameters, by which they get values of the seeded world and of earlier results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sayso.catalog import word_list
from sayso.infer import KINDS, NOUNS, READS, verb_of


class Role(StrEnum):
    """The role of a parameter."""

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
"""Roles whose values must exist in the world, so a schema's example is of no use."""
NAMED: Final = frozenset([Role.TABLE, Role.COLUMN, Role.SHEET])
"""Roles whose values earlier tools name: a sample's names are of no use on a server's own data."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The role of a parameter. `entity` is the kind of object of an id or name, in the singular."""

    role: Role | None
    entity: str = ""


def words_of_tool(tool: Mapping[str, Any]) -> list[str]:
    """Return the words of a tool's name, in the singular."""
    return word_list(str(tool.get("name", "")))


def kinds_of(tool: Mapping[str, Any]) -> frozenset[str]:
    """Return the kinds of a tool's verbs, such as `read`. Noun-like verbs count only if alone."""
    verbs = [verb for word in words_of_tool(tool) if (verb := verb_of(word))]
    sure = [verb for verb in verbs if verb not in NOUNS] or verbs[:1]
    return frozenset(kind for verb in sure for kind in KINDS[verb])


def is_reader(tool: Mapping[str, Any]) -> bool:
    """Return whether a tool's name says that it reads, or has no verb."""
    kinds = kinds_of(tool)
    return not kinds or (bool(kinds & READS) and "destroy" not in kinds)


def is_maker(tool: Mapping[str, Any]) -> bool:
    """Return whether a tool's name says that it makes or changes something, and removes nothing."""
    kinds = kinds_of(tool)
    return bool(kinds - READS) and "destroy" not in kinds


def entity_of(words: Iterable[str]) -> str:
    """Return the last of the words that is neither a verb nor a kind of value, or ""."""
    return (entities_of(words) or [""])[-1]


def entities_of(words: Iterable[str]) -> list[str]:
    """Return all of the words that are neither a verb nor a kind of value."""
    kept = [word for word in words if word not in _KINDS_OF_VALUE]
    return [word for word in kept if verb_of(word) is None or word in NOUNS]


_KINDS_OF_VALUE: Final = frozenset(
    """
    all by data detail for from id identifier info item iid key list name new number of record
    slug the to uid uuid with target source batch multiple single many
    """.split()
)
