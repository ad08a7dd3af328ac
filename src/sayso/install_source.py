"""The place that sayso is installed from: its wheel, until a version is on the package index.

To release, set `IS_PUBLISHED` to True and run `make metadata`: messages, README and `server.json`
follow.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

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


class _Folder(msgspec.Struct):
    editable: bool = False


class _Repository(msgspec.Struct):
    vcs: str
    commit_id: str


class _DirectUrl(msgspec.Struct):
    """`direct_url.json`, as PEP 610 defines it."""

    url: str
    dir_info: _Folder | None = None
    vcs_info: _Repository | None = None


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
    try:
        record = msgspec.json.decode(direct_url or "", type=_DirectUrl)
        parts = urlsplit(record.url)
    except (msgspec.MsgspecError, ValueError):
        return None
    if parts.scheme == "file":
        is_editable = record.dir_info is not None and record.dir_info.editable
        return InstallSource(unquote(parts.path), is_editable)
    if parts.scheme not in ("https", "ssh") or parts.query or _has_secret(parts):
        return None
    if record.vcs_info is None:
        return InstallSource(record.url)
    return InstallSource(f"{record.vcs_info.vcs}+{record.url}@{record.vcs_info.commit_id}")


def _has_secret(parts: SplitResult) -> bool:
    """Return whether a URL has a user; `git@` of SSH is the same for all."""
    user = parts.netloc.rpartition("@")[0]
    return bool(user) and (parts.scheme, user) != ("ssh", "git")
