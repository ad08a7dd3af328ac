"""The tables of the SQLite store, one step per version, applied in order."""

import sqlite3
from typing import Final

from avow.errors import StoreError

_STEPS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE records (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, call TEXT NOT NULL, at REAL NOT NULL,
            event TEXT NOT NULL, body TEXT NOT NULL) STRICT""",
        "CREATE INDEX records_of_call ON records (call)",
        """CREATE TABLE approvals (
            number INTEGER PRIMARY KEY AUTOINCREMENT, binding TEXT NOT NULL, body TEXT NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('pending', 'approved', 'denied', 'used', 'expired')),
            created REAL NOT NULL, expires REAL NOT NULL, answered_at REAL, answered_by TEXT,
            channel TEXT, used_by TEXT) STRICT""",
        # At most one question of a binding is open: two callers can only ever join one.
        """CREATE UNIQUE INDEX open_approval ON approvals (binding)
            WHERE state IN ('pending', 'approved')""",
    ),
)

VERSION: Final = len(_STEPS)
_APPLICATION_ID: Final = 0x61766F77
"""`avow` in ASCII: marks the file as ours (SQLite file format, offset 68)."""


def migrate(db: sqlite3.Connection, where: str) -> None:
    """Bring the tables to this version, in one transaction.

    Raises `StoreError` for a file of another program or of a newer avow.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version_of(db, where)
        for step in _STEPS[version:]:
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _version_of(db: sqlite3.Connection, where: str) -> int:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != _APPLICATION_ID and tables:
        what = "this database belongs to another program"
        raise StoreError(what, where=where, fix="Choose another file with --store sqlite:PATH.")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        what = f"this database is of version {version}; this avow knows versions up to {VERSION}"
        raise StoreError(what, where=where, fix="Use the avow that wrote it, or a newer one.")
    return int(version)
