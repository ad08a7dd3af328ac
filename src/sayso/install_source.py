"""The place that sayso is installed from: its wheel, until a version is on the package index.

To release, set `IS_PUBLISHED` to True and run `make metadata`: messages, README and `server.json`
follow.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

from sayso.version import __version__

IS_PUBLISHED: Final = False
"""Whether a version of sayso is on the package index. Before, its name there may be another's."""

WHEEL: Final = f"dist/sayso-{__version__}-py3-none-any.whl"
"""The wheel that `make dist` builds."""


@dataclass(frozen=True, slots=True)
class InstallSource:
    """Where an installer finds sayso: the name on the index, a local path or a URL."""

    location: str
    is_editable: bool = False

    def requirement(self, *extras: str) -> str:
        """Return the requirement that pip, pipx and uv accept.

        >>> InstallSource("sayso").requirement("cel", "otel")
        'sayso[cel,otel]'
        >>> InstallSource("dist/sayso.whl").requirement("cel")
        'dist/sayso.whl[cel]'
        >>> InstallSource("https://example.com/sayso.whl").requirement("cel")
        'sayso[cel] @ https://example.com/sayso.whl'
        """
        suffix = f"[{','.join(extras)}]" if extras else ""
        if "://" in self.location:
            return f"sayso{suffix} @ {self.location}"
        return f"{self.location}{suffix}"


def default_source(*, is_published: bool = IS_PUBLISHED) -> InstallSource:
    """Return the source that the documents name."""
    return InstallSource("sayso" if is_published else WHEEL)


def recorded_source(direct_url: str | None) -> InstallSource | None:
    """Return the source that an installer recorded in `direct_url.json` (PEP 610).

    Returns None for an installation from an index, a damaged record, and a URL that may contain a
    secret.

    >>> recorded_source('{"url": "file:///srv/sayso.whl", "archive_info": {}}')
    InstallSource(location='/srv/sayso.whl', is_editable=False)
    """
    record = _object(direct_url)
    url = record.get("url")
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme == "file":
        folder = record.get("dir_info")
        is_editable = isinstance(folder, dict) and folder.get("editable") is True
        return InstallSource(unquote(parts.path), is_editable)
    if parts.scheme not in ("https", "ssh") or parts.query or _may_have_secret(parts.netloc, url):
        return None
    repository = record.get("vcs_info")
    if not isinstance(repository, dict):
        return InstallSource(url)
    system = repository.get("vcs")
    commit = repository.get("commit_id")
    return InstallSource(f"{system}+{url}@{commit}") if system and commit else None


def _may_have_secret(netloc: str, url: str) -> bool:
    """Return whether a URL has a user; `git@` of SSH is the same for all."""
    user = netloc.rpartition("@")[0]
    return bool(user) and not (url.startswith("ssh://") and user == "git")


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "null")
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
