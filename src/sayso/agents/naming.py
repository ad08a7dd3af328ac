"""Names by which a model calls tools: letters, digits, `_` and `-`, 64 at most."""

import re
from typing import Final

from sayso.catalog import SEPARATOR, qualify
from sayso.schema import digest

_LONGEST: Final = 64
"""What the strictest of the large model APIs takes."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MARK: Final = 8
_MARKED: Final = re.compile(r"-[0-9a-f]{8}$")


def fit_name(name: str) -> str:
    """The name as every model may say it; one that had to change is marked by what it was.

    So it is the same whatever other tools there are, and no two become one; one that only looks as
    if it were marked is marked too, or a server could take another tool's name.

    >>> fit_name("customer_delete"), fit_name("customer.delete")
    ('customer_delete', 'customer_delete-ed768e5a')
    """
    is_fit = 0 < len(name) <= _LONGEST and not _UNFIT.search(name) and not _MARKED.search(name)
    return name if is_fit else _mark(name, name)


def fit_qualified(server: str, name: str) -> str:
    """The same for a tool among those of several servers.

    >>> fit_qualified("crm", "eu__list"), fit_qualified("crm__eu", "list")
    ('crm__eu__list', 'crm__eu__list-e607c0a9')
    """
    whole = qualify(server, name)
    if whole.partition(SEPARATOR)[0] == server:
        return fit_name(whole)
    # Where the server's name ends cannot be seen: another server may have a tool of this name.
    return _mark(whole, [server, name])


def _mark(name: str, what: str | list[str]) -> str:
    fit = _UNFIT.sub("_", name)
    return f"{fit[: _LONGEST - _MARK - 1]}-{digest(what)[:_MARK]}"
