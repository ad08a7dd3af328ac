"""The seeded world's values for each role."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.verify.inputs.formats import DAY, MOMENT
from sayso.verify.inputs.roles import Meaning, Role

Values = Mapping[str, tuple[Any, ...]]
"""Values by class: `existing`, `missing`, `directory`, `outside` and so on, the best first."""

CUSTOMERS: Final = (
    (1, "Ada", "ada@example.com", "London"),
    (2, "Bob", "bob@example.com", "Paris"),
    (3, "Zoë", "zoe@example.com", "Zürich"),
)
ORDERS: Final = (
    (1, 1, "paper", 12.5),
    (2, 1, "ink", 30.0),
    (3, 2, "desk", 240.0),
    (4, 3, "lamp", 45.25),
)
NOTES: Final = ((1, "First", "alpha beta"), (2, "Second", "gamma"), (3, "Third", "delta"))
"""The rows in the world's databases, CSV file, workbook and web API."""

_ENTITIES: Final = {
    "customer": CUSTOMERS,
    "order": ORDERS,
    "note": NOTES,
    "user": CUSTOMERS,
    "contact": CUSTOMERS,
    "person": CUSTOMERS,
    "item": ORDERS,
}
BRANCHES: Final = ("main", "feature", "old")
TAGS: Final = ("v1.0",)
COMMITS: Final = (
    "31f4136bcb4a43f4f7519eb6c41c2bf10c745679",
    "a053d18c74c4d38068dddf898c3f6ee93f405c0a",
)
"""The repository's commits on the main branch, newest first."""
_NO_NUMBER: Final = 987_654_321
_NO_NAME: Final = "missing-987654321"

_FILES: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.FILE: (
        "notes.txt", "report.md", "data.csv", "config.json", "main.py", "docs/two words.txt",
        "docs/Grüße 漢字.txt",
    ),
    Role.WORKBOOK: ("data.xlsx",),
    Role.DOCUMENT: ("letter.docx",),
    Role.IMAGE: ("image.png",),
    Role.PDF: ("paper.pdf",),
    Role.DATABASE: ("data.db", "wal.db"),
    Role.MAILBOX: ("mail.mbox", "maildir"),
    Role.CALENDAR: ("calendar.ics",),
}  # fmt: skip
_IN_REPOSITORY: Final = ("README.md", "untracked.txt", "src/app.py")
"""Files relative to the repository's root, for tools with a parameter for the repository too."""
_DIRECTORIES: Final = ("", "docs", "docs/old", "empty", "app")
_NEW: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.NEW_FILE: ("new.txt", "docs/new file.txt"),
    Role.NEW_DIRECTORY: ("new", "docs/new"),
    Role.NEW_WORKBOOK: ("new.xlsx",),
}

_WORDS: Final[Mapping[Role, dict[str, tuple[Any, ...]]]] = {
    Role.TABLE: {"existing": ("customers", "orders", "notes"), "missing": ("nothing_here",)},
    Role.COLUMN: {"existing": ("name", "id", "email"), "missing": ("nothing_here",)},
    Role.SHEET: {"existing": ("Customers", "Orders"), "missing": ("Nothing",)},
    Role.RANGE: {"existing": ("A1:D4", "A1", "A1:B2")},
    Role.CELL: {"existing": ("A1", "B2")},
    Role.HOST: {"existing": ("127.0.0.1", "localhost")},
    Role.EMAIL: {"existing": ("ada@example.com", "bob@example.com")},
    Role.DATE: {"existing": (DAY, "2026-01-20", "2024-02-29")},
    Role.TIME: {"existing": (MOMENT, "2026-01-20T10:00:00Z")},
    Role.CLOCK: {"existing": ("09:30", "23:59")},
    Role.ZONE: {"existing": ("Europe/Berlin", "UTC", "America/New_York"), "missing": ("No/Where",)},
    Role.LANGUAGE: {"existing": ("en", "de")},
    Role.COUNTRY: {"existing": ("DE", "US")},
    Role.QUERY: {"existing": ("alpha", "Ada", "TODO"), "missing": (_NO_NAME,)},
    Role.REGEX: {"existing": ("alpha|TODO", "^#"), "missing": (_NO_NAME,)},
    Role.GLOB: {"existing": ("*.txt", "**/*.md", "*"), "missing": ("*.nothing",)},
    Role.LIMIT: {"existing": (10, 1)},
    Role.OFFSET: {"existing": (0, 1)},
    Role.PAGE: {"existing": (1, 2)},
    Role.PORT: {"existing": (8000,)},
    Role.JSON: {"existing": ('{"name": "demo"}', "[]", "{}")},
    Role.CODE: {"existing": ("print('hello')", "1 + 1")},
    Role.COMMAND: {"existing": ("echo hello", "ls")},
    Role.EXPRESSION: {"existing": ("1 + 2", "=SUM(A1:A3)")},
    Role.NAME: {"existing": ("demo", "Ada")},
    Role.TITLE: {"existing": ("A title",)},
    Role.CONTENT: {"existing": ("Some words.\n", "alpha\nbeta\n")},
    Role.MESSAGE: {"existing": ("A message",)},
    Role.FORMAT: {"existing": ("json", "text", "markdown")},
    Role.COLOR: {"existing": ("#336699", "red")},
    Role.LATITUDE: {"existing": (52.52,)},
    Role.LONGITUDE: {"existing": (13.405,)},
    Role.AMOUNT: {"existing": (1, 10)},
    Role.SECRET: {"existing": ("correct horse",)},
    Role.BRANCH: {"existing": ("feature", "old", "main"), "missing": (_NO_NAME,)},
    Role.NEW_BRANCH: {"new": ("topic",), "existing": ("feature", "old")},
    Role.REF: {
        "existing": ("HEAD", *BRANCHES, *TAGS, *COMMITS),
        "missing": (_NO_NAME,),
    },
    Role.SQL: {
        "select": ("SELECT * FROM customers", "SELECT name FROM customers WHERE id = 1"),
        "insert": ("INSERT INTO notes (title, body) VALUES ('New', 'words')",),
        "update": ("UPDATE notes SET body = 'other words' WHERE id = 1",),
        "delete": ("DELETE FROM notes WHERE id = 3",),
        "create": ("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)",),
        "drop": ("DROP TABLE notes",),
        "alter": ("ALTER TABLE customers ADD COLUMN colour TEXT",),
    },
}
SAFE_STATEMENTS: Final = (
    "SELECT 1",
    "SELECT name FROM sqlite_master",
    "SELECT table_name FROM information_schema.tables",
)
"""Queries that need no table of the world's database: a constant, and the catalogue."""
_URLS: Final = {
    "existing": ("/", "/about.html", "/api/customers", "/notes.txt"),
    "redirect": ("/old",),
    "missing": ("/nothing.html",),
}


def known_values(meaning: Meaning, inside: str, *, url: str) -> Values:
    """Return values for a meaning. Paths start with `inside`; `url` is the world's web site."""
    role = meaning.role
    if role is None:
        return {}
    if role is Role.FILE and meaning.entity == "repository":
        return {"existing": _IN_REPOSITORY, "missing": (_NO_NAME,)}
    if role in _FILES or role in _NEW or role in (Role.DIRECTORY, Role.REPOSITORY):
        return _paths(role, inside)
    if role is Role.ID or (role is Role.NAME and meaning.entity in _ENTITIES):
        return _entity(meaning)
    if role is Role.URL:
        return {label: tuple(url + path for path in paths) for label, paths in _URLS.items()}
    return _WORDS.get(role, {})


def _paths(role: Role, inside: str) -> Values:
    def at(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{inside}/{name}" if name else inside for name in names)

    files = at(_FILES[Role.FILE])
    folders = at(_DIRECTORIES)
    rest = {"missing": at(("missing/nothing.txt",)), "outside": ("/etc/hostname",)}
    if role in _NEW:
        if role is Role.NEW_DIRECTORY:
            return {"new": at(_NEW[role]), "directory": folders[1:], **rest}
        old = at(_FILES[Role.WORKBOOK]) if role is Role.NEW_WORKBOOK else files
        return {"new": at(_NEW[role]), "file": old, **rest}
    if role is Role.DIRECTORY:
        return {"directory": folders, "file": files[:1], **rest}
    if role is Role.REPOSITORY:
        return {"existing": at(("repo",)), "directory": folders[1:2], **rest}
    if role is Role.FILE:
        new = at(_NEW[Role.NEW_FILE])
        return {"existing": files, "directory": folders[1:2], "new": new, **rest}
    return {"existing": at(_FILES[role]), **rest}


def _entity(meaning: Meaning) -> Values:
    rows = _ENTITIES.get(meaning.entity)
    column = 0 if meaning.role is Role.ID else 1
    missing = _NO_NUMBER if meaning.role is Role.ID else _NO_NAME
    found = tuple(row[column] for row in rows) if rows else (1, "1", 2)
    return {"existing" if rows else "guessed": found, "missing": (missing, _NO_NAME)}
