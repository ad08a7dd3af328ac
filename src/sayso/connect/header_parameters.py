"""Arguments of a call that are also sent as HTTP headers (MCP 2026-07-28, `x-mcp-header`).

Proxies route by these headers, so a header must equal its argument. The official SDK has the same
functions, but weighs 25 MB with its dependencies, and the gateway needs nothing else of it. The
tests hold this module to the SDK's answers.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as BinasciiError
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

KEY: Final = "x-mcp-header"
PREFIX: Final = "Mcp-Param-"

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
"""The characters of a header's name (RFC 9110, section 5.6.2)."""
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")
_DECIMAL: Final = re.compile(r"(-?[0-9]+)(?:\.0+)?")
_TYPES: Final = ("string", "integer", "boolean")
# The keywords of JSON Schema that contain schemas: one, a list, or an object of them.
_ONE: Final = frozenset(
    {
        "items",
        "contains",
        "unevaluatedItems",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_OBJECT: Final = frozenset({"patternProperties", "dependentSchemas", "$defs", "definitions"})

Path = tuple[str, ...]
"""The names of the properties from the root of a schema to a marked one."""


def encode_header(value: str) -> str:
    """Return a text in a form that is valid in a header: unchanged, or in marked base64.

    >>> encode_header("get_echo"), encode_header("größe")
    ('get_echo', '=?base64?Z3LDtsOfZQ==?=')
    """
    is_plain = value.isascii() and value.isprintable() and value == value.strip()
    if is_plain and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{b64encode(value.encode()).decode()}?="


def parameter_headers(
    input_schema: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, str]:
    """Return the headers of the arguments that `input_schema` marks.

    >>> schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    >>> parameter_headers(schema, {"region": "eu"})
    {'Mcp-Param-Region': 'eu'}
    """
    headers: dict[str, str] = {}
    for path, token, _ in _marked(input_schema):
        text = _as_text(_value_at(path, arguments))
        if text is not None:
            headers[f"{PREFIX}{token}"] = encode_header(text)
    return headers


def header_mismatch(
    input_schema: Mapping[str, Any], arguments: Mapping[str, Any], headers: Mapping[str, str]
) -> str | None:
    """Return what is wrong if the headers of a call differ from its arguments.

    Names of headers match in any case. A schema with an invalid mark has no headers, because
    clients must ignore its tool.

    >>> schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    >>> header_mismatch(schema, {"region": "eu"}, {"mcp-param-region": "us"})
    "Mcp-Param-Region header does not match the request body's 'region' argument"
    """
    if not _is_valid(input_schema):
        return None
    sent: dict[str, list[str]] = {}
    for name, value in headers.items():
        sent.setdefault(name.lower(), []).append(value)
    for path, token, schema in _marked(input_schema):
        header = f"{PREFIX}{token}"
        values = sent.get(header.lower(), [])
        problem = _mismatch(schema, _value_at(path, arguments), values, ".".join(path))
        if problem is not None:
            return f"{header} header {problem}"
    return None


def _mismatch(schema: Mapping[str, Any], value: Any, sent: list[str], name: str) -> str | None:
    """Return the problem of one header, sent any number of times, with its argument."""
    if len(sent) > 1:
        return "appears more than once"
    if value is None:
        absent = f"is present but the request body's {name!r} argument is absent"
        return absent if sent else None
    differs = f"does not match the request body's {name!r} argument"
    text = _as_text(value)
    if text is None:  # clients send no header for such a value
        return differs if sent else None
    if not sent:
        return f"is missing but the request body's {name!r} argument is present"
    decoded = _decode_header(sent[0])
    if decoded is None:
        return "carries a malformed base64 sentinel value"
    if decoded == text or (schema["type"] == "integer" and _is_same_integer(value, decoded)):
        return None
    return differs


def _positions(root: object) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    """Yield all schemas in a schema, with their path, or `None` below other keywords."""
    stack: list[tuple[Path | None, object]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if not isinstance(node, dict):
            continue
        schema = cast("dict[str, Any]", node)
        yield path, schema
        for keyword, value in schema.items():
            if keyword == "properties" and isinstance(value, dict):
                inner = cast("dict[str, Any]", value)
                stack += [(None if path is None else (*path, name), inner[name]) for name in inner]
            elif keyword in _ONE:
                stack.append((None, value))
            elif keyword in _LIST and isinstance(value, list):
                stack += [(None, part) for part in cast("list[Any]", value)]
            elif keyword in _OBJECT and isinstance(value, dict):
                stack += [(None, part) for part in cast("dict[str, Any]", value).values()]


def _marked(input_schema: object) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Yield the path, the header's name and the schema of each marked argument."""
    for path, schema in _positions(input_schema):
        token = schema.get(KEY)
        if path and isinstance(token, str):
            yield path, token, schema


def _is_valid(input_schema: object) -> bool:
    """Return whether every mark is on a property of a simple type, with a name of its own."""
    names: set[str] = set()
    for path, schema in _positions(input_schema):
        if KEY not in schema:
            continue
        token = schema[KEY]
        if not path or not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return False
        if schema.get("type") not in _TYPES or token.lower() in names:
            return False
        names.add(token.lower())
    return True


def _value_at(path: Path, arguments: Mapping[str, Any]) -> Any:
    node: Any = arguments
    for name in path:
        if not isinstance(node, Mapping):
            return None
        node = cast("Mapping[str, Any]", node).get(name)
    return node


def _as_text(value: Any) -> str | None:
    """Return a value as a header has it, or `None` if it has no such form."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:  # an integer with more digits than Python converts
        return None


def _decode_header(value: str) -> str | None:
    """Return the text of a header, or `None` for base64 that no encoder writes."""
    match = _ENCODED.fullmatch(value)
    if match is None:
        return value
    try:
        data = b64decode(match[1], validate=True)
        text = data.decode()
    except (BinasciiError, ValueError):
        return None
    return text if b64encode(data).decode() == match[1] else None


def _is_same_integer(value: Any, text: str) -> bool:
    """Return whether a header has an integer argument's value in another form, such as `42.0`."""
    match = _DECIMAL.fullmatch(text)
    if match is None or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return int(match[1]) == value
    except ValueError:
        return False
