"""Names and schemas in the form that every model API accepts.

A name has at most 64 letters, digits, `_` and `-`.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.agents.exchange import as_object
from sayso.catalog import SEPARATOR, qualify
from sayso.schema import digest

_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_UNFIT_KEYS: Final = (*_CHOICES, "not", "if", "then", "else", "enum", "const")
"""Top-level schema keys that make the large model APIs refuse the whole request."""

_MAX_NAME_CHARACTERS: Final = 64
"""The limit of the strictest of the large model APIs."""

_UNFIT_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_MARK: Final = 8
_MARKED: Final = re.compile(r"-[0-9a-f]{8}$")


def fit_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object schema without the top-level keys that model APIs refuse.

    The guard still enforces the removed keys: it checks arguments against the tool's own schema.
    The result includes the properties of all branches, so that the model knows them.

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
    """Return a name that every model API accepts. A changed name ends with the old one's digest.

    The result does not depend on other tools, and two names never become one. A valid name that
    ends like a digest is changed too, since a server could choose it to take another tool's name.

    >>> fit_name("customer_delete"), fit_name("customer.delete")
    ('customer_delete', 'customer_delete-ed768e5a')
    """
    has_valid_length = 0 < len(name) <= _MAX_NAME_CHARACTERS
    if has_valid_length and not _UNFIT_NAME.search(name) and not _MARKED.search(name):
        return name
    return _mark(name, name)


def fit_qualified(server: str, name: str) -> str:
    """Return the model's name of one server's tool among those of several servers.

    >>> fit_qualified("crm", "eu__list"), fit_qualified("crm__eu", "list")
    ('crm__eu__list', 'crm__eu__list-e607c0a9')
    """
    whole = qualify(server, name)
    if whole.partition(SEPARATOR)[0] == server:
        return fit_name(whole)
    # The server's name contains the separator, so another server's tool could get this name.
    return _mark(whole, [server, name])


def _mark(name: str, what: str | list[str]) -> str:
    fit = _UNFIT_NAME.sub("_", name)
    return f"{fit[: _MAX_NAME_CHARACTERS - _MARK - 1]}-{digest(what)[:_MARK]}"
