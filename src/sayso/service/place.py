"""Where the files of a service are, and absolute forms of what a person writes."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sayso.errors import UsageError
from sayso.store import is_postgres, store_path

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Place:
    """The files of the service `name` in the configuration of a user."""

    name: str
    configuration: Path

    @classmethod
    def of(cls, name: str) -> "Place":
        """Return the place of a service. Raises `UsageError` for a name that is not plain."""
        if not _NAME.fullmatch(name):
            fix = "Use letters, digits, - and _, beginning with a letter; without .service."
            raise UsageError(f"{name!r} cannot be the name of a service", where="--name", fix=fix)
        configured = os.environ.get("XDG_CONFIG_HOME", "")
        # The specification says to ignore a relative path.
        is_used = Path(configured).is_absolute()
        return cls(name, Path(configured) if is_used else Path.home() / ".config")

    @property
    def unit(self) -> str:
        """The unit's name for systemctl."""
        return f"{self.name}.service"

    @property
    def path(self) -> Path:
        """The unit file."""
        return self.configuration / "systemd" / "user" / self.unit

    @property
    def kept(self) -> Path:
        """The copy of another unit file that was at `path` before."""
        return self.path.with_name(f"{self.unit}.before-sayso")

    @property
    def environment_file(self) -> Path:
        """A file of the user's own with variables for the service."""
        return self.configuration / "sayso" / f"{self.name}.env"


def absolute(word: str) -> str:
    """Return a path, or a target that begins with one, from the root; a URL stays as it is.

    >>> absolute("https://example.com/mcp"), absolute("/srv/mcp.json#git")
    ('https://example.com/mcp', '/srv/mcp.json#git')
    """
    return word if "://" in word else os.path.join(Path.cwd(), word)  # noqa: PTH118 - keeps `x.json#/a`


def absolute_store(url: str) -> str:
    """Return a store's URL with an absolute path. Raises `UsageError` if it has a password."""
    if not is_postgres(url):
        return f"sqlite:{store_path(url).absolute()}"
    if urlsplit(url).password is not None:
        fix = "Put SAYSO_STORE=… into the service's environment file, or use ~/.pgpass."
        raise UsageError("a password would be in the unit file", where="--store", fix=fix)
    return url
