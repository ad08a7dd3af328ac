"""The reference pages, which the code itself writes: nothing of them is committed.

No library renders the Python API: Sphinx's autodoc reads reStructuredText, and the docstrings of
this project are Markdown.
"""

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import sayso
import sayso.errors
import sayso.policy
import sayso.testing
from sayso.cli.app import app
from sayso.intent import Intent
from sayso.lint.handbook import handbook
from sayso.policy import json_schema

_MODULES: Final = (sayso, sayso.policy, sayso.testing)
_DOCS: Final = Path(__file__).parents[2] / "docs"
_IMPORT: Final = re.compile(r"^from (sayso[.\w]*) import ([\w, ]+)$", re.MULTILINE)
_TOML_TYPES: Final = {
    "array": "array",
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "object": "table",
    "string": "string",
}
_LINE: Final = 88
_OBJECT: Final = re.compile(r"<function [^>]*>+(?: at 0x[0-9a-f]+>)?|<[^<>]* at 0x[0-9a-f]+>")
_CLASS: Final = re.compile(r"<class '([^']+)'>")
_MODULE: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")


def commands() -> str:
    """Return the page of all commands, from their `--help`."""
    parts = [f"## {name}\n\n```\n{page.rstrip()}\n```\n" for name, page in app.pages()]
    head = "# Commands\n\nEvery command and option, as `sayso COMMAND --help` shows them.\n\n"
    return head + "\n".join(parts)


def rules() -> str:
    """Return the page of the linter's rules."""
    return handbook().replace("(lint.md)", "(../guides/lint.md)")


def errors() -> str:
    """Return the page of errors: code, exit status and meaning of each."""
    rows = [
        f"| [`{kind.code}`](../guides/troubleshooting.md#{kind.code}) | `{kind.__name__}` "
        f"| {kind.exit_code} | {_first_line(kind)} |"
        for kind in vars(sayso.errors).values()
        if inspect.isclass(kind) and issubclass(kind, sayso.errors.SaysoError)
        if "code" in vars(kind)
    ]
    head = """\
# Errors

With `--json`, a command that fails prints
`{"error": {"code": …, "what": …, "where": …, "fix": …}}`.
The code is stable. The link leads to causes and fixes.

| code | class in `sayso.errors` | exit code | meaning |
| --- | --- | --- | --- |
"""
    return head + "\n".join(rows) + "\n"


def policy() -> str:
    """Return the page of the policy's keys, from its JSON schema."""
    lines = [
        "# Policy keys",
        "",
        "Every key of a `policy.toml`. [Write a policy](../guides/policy.md) shows them in use.",
        "",
    ]
    for key, schema in json_schema()["properties"].items():
        lines += _section(key, schema)
    return "\n".join(lines) + "\n"


def api() -> str:
    """Return the page of the public Python names."""
    lines = ["# Python API", ""]
    for module, names in _public().items():
        about = _documentation(module) if module in _MODULES else _first_line(module)
        lines += [f"## {module.__name__}", "", about, ""]
        for name in names:
            lines += _entry(module, name)
    return "\n".join(lines) + "\n"


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "commands": commands,
    "policy": policy,
    "api": api,
    "errors": errors,
    "rules": rules,
}


def _public() -> dict[ModuleType, Sequence[str]]:
    """Return all names of the main modules, and what the pages import from other modules."""
    found: dict[ModuleType, Sequence[str]] = {module: module.__all__ for module in _MODULES}
    imported: dict[str, set[str]] = {}
    for page in _DOCS.rglob("*.md"):
        for module, names in _IMPORT.findall(page.read_text("utf-8")):
            imported.setdefault(module, set()).update(names.split(", "))
    for name, names in sorted(imported.items()):
        module = importlib.import_module(name)
        if module not in found and not name.startswith("sayso.demo"):
            found[module] = sorted(names)
    return found


def _entry(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    yield f"### {module.__name__}.{name}"
    yield ""
    if isinstance(value, Intent):
        yield f"The intent with `{value.hints!r}`."
        yield ""
        return
    yield f"```python\n{_signature(name, value)}\n```"
    yield ""
    yield _documentation(value)
    yield ""
    if inspect.isclass(value):
        yield from _members(value)


def _members(kind: type) -> Iterator[str]:
    for name, member in vars(kind).items():
        is_documented = isinstance(member, property) or inspect.isfunction(member)
        if name.startswith("_") or not is_documented or not member.__doc__:
            continue
        shown = f"{name}" if isinstance(member, property) else _signature(name, member)
        yield f"`{' '.join(shown.split())}`"
        yield ""
        yield textwrap.indent(_documentation(member), ": ").replace("\n: ", "\n  ")
        yield ""


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    text = _plain(f"{name}{signature}")
    if len(text) <= _LINE:
        return text
    parts = "".join(f"    {_plain(part)},\n" for part in _parameters(signature))
    returned = text[text.rindex(")") + 1 :]
    if ") -> " in text:
        returned = text[text.rindex(") -> ") + 1 :]
    return f"{name}(\n{parts}){returned}"


def _plain(text: str) -> str:
    """Return a signature without module names and addresses in memory."""
    return _MODULE.sub("", _CLASS.sub(r"\1", _OBJECT.sub("...", text))).replace("~", "")


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """Yield each parameter as it stands in a definition, with the lone `*` and `/`."""
    kind = inspect.Parameter
    previous = None
    for parameter in signature.parameters.values():
        if previous is kind.POSITIONAL_ONLY and parameter.kind is not kind.POSITIONAL_ONLY:
            yield "/"
        has_star = previous in {kind.KEYWORD_ONLY, kind.VAR_POSITIONAL}
        if parameter.kind is kind.KEYWORD_ONLY and not has_star:
            yield "*"
        previous = parameter.kind
        yield str(parameter)


def _documentation(value: Any) -> str:
    if isinstance(value, dict | tuple | frozenset | str):
        return ""  # the documentation of the type says nothing about the value
    # `inspect.getdoc` would take the text of a library's class that this one extends.
    return inspect.cleandoc(value.__doc__ or "")


def _first_line(value: Any) -> str:
    return _documentation(value).partition("\n")[0]


def _section(key: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a key means, and a section for each table inside it."""
    yield f"## {key}"
    yield ""
    if "description" in schema:
        yield f"{schema['description'][:1].upper()}{schema['description'][1:]}."
        yield ""
    yield f"Type: {_type_of(schema)}."
    yield ""
    inside = _properties(schema)
    if not inside:
        return
    yield "| key | type | meaning |"
    yield "| --- | --- | --- |"
    for name, value in inside.items():
        meaning = str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")
        yield f"| `{name}` | {_type_of(value)} | {meaning} |"
    yield ""
    for name, value in inside.items():
        if _properties(value):
            yield from _section(f"{key}.{name}", value)


def _type_of(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return ", or ".join(map(_type_of, schema[keyword]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items', {}))}"
    if isinstance(schema.get("type"), list):
        return ", or ".join(_TOML_TYPES[name] for name in schema["type"])
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in schema
    ]
    kind = _TOML_TYPES.get(schema.get("type", ""), "any value")
    return " ".join([kind, ", ".join(bounds)]).strip()


def _properties(schema: Any) -> Mapping[str, Any]:
    """Return the keys of a table, or of each table in a list or under a name."""
    for inner in (schema, schema.get("items"), schema.get("additionalProperties")):
        keys: Mapping[str, Any] = getattr(inner, "get", dict[str, Any]().get)("properties", {})
        if keys:
            return keys
    return {}
