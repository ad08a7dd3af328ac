"""The report of the latest `sayso verify`, which is kept so that it can be signed afterwards."""

import os
import tempfile
from pathlib import Path

from sayso.errors import ConfigError


def latest_report() -> Path:
    """Return the file of the latest report, which may not exist."""
    from platformdirs import user_data_path

    return user_data_path("sayso", appauthor=False) / "verify" / "latest.json"


def keep_report(text: str) -> Path | None:
    """Keep a report, readable only by this user; return its file, or `None` if it cannot be kept.

    Runs that end at the same time replace each other's report as a whole.
    """
    file = latest_report()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # `mkstemp` makes a file that only this user can read.
        number, part = tempfile.mkstemp(dir=file.parent, prefix=".latest-")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as opened:
                opened.write(text)
            Path(part).replace(file)
        finally:
            Path(part).unlink(missing_ok=True)
    except OSError:
        return None
    return file


def find_latest() -> Path:
    """Return the file of the latest report. Raises `ConfigError` if there is none."""
    file = latest_report()
    if not file.exists():
        fix = "Run sayso verify TARGET first, or name the file of a report."
        raise ConfigError("no report of sayso verify is kept", where=str(file), fix=fix)
    return file
