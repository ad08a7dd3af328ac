"""Names and schemas in the form that every model takes.

A name is letters, digits, `_` and `-`, 64 at most.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.agents.exchange import as_object
from sayso.catalog import SEPARATOR, qualify
from sayso.schema import digest

_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_UNFIT_KEYS: Final = (*_CHOICES, "not", "if", "then", "else", "enum", "const")
"""What the large model APIs refuse at the top of a schema, and the whole request with it."""

_LONGEST: Final = 64
"""What the strictest of the large model APIs takes."""

_UNFIT_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MARK: Final = 8
_MARKED: Final = re.compile(r"-[0-9a-f]{8}$")


def fit_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object, with nothing at its top that a model API refuses.

    What is left out there still holds: the guard checks arguments against the tool's own schema.
    The properties of its branches are kept, so that the model knows of them.

    >>> fit_schema({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]})
    {'type': 'object', 'properties': {'a': {}, 'b': {}}}
    """
    properties = dict(as_object(schema.get("properties")))
    for choice in _CHOICES:
        branches = schema.get(choice)
        for branch in cast("list[Any]", branches) if isinstance(branches, list) else ():
            for name, inner in as_object(as_object(branch).get("properties")).items():
                properties.setdefault(name, inner)
    kept = {key: value for key, value in schema.items() if key not in _UNFIT_KEYS}
    return {**kept, "type": "object", "properties": properties}


def fit_name(name: str) -> str:
    """The name as every model may say it; one that had to change is marked by what it was.

    So it is the same whatever other tools there are, and no two become one; one that only looks as
    if it were marked is marked too, or a server could take another tool's name.

    >>> fit_name("customer_delete"), fit_name("customer.delete")
    ('customer_delete', 'customer_delete-ed768e5a')
    """
    is_fit = 0 < len(name) <= _LONGEST and not _UNFIT_NAME.search(name) and not _MARKED.search(name)
    if is_fit:
        return name
    return _mark(name, name)


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
    fit = _UNFIT_NAME.sub("_", name)
    return f"{fit[: _LONGEST - _MARK - 1]}-{digest(what)[:_MARK]}"
