"""Loads a policy from the text of policy.toml, and reports every mistake in it."""

import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from sayso.catalog import SEPARATOR
from sayso.errors import PolicyError, UsageError
from sayso.fields import UnfitError
from sayso.intent import CONTAINING, THRESHOLD, Hints, Trust, fault_of_key
from sayso.policy.conditions import is_glob
from sayso.policy.decision import Effect, Listing, Mode
from sayso.policy.document import (
    ANY,
    DEFAULT_CHANNELS,
    MAX_OPEN_QUESTIONS,
    DryRun,
    Entry,
    FirstUse,
    Operator,
    Policy,
    ResultLimit,
    read_forwarded,
)
from sayso.policy.format import POLICY, RECEIPT_KEYS
from sayso.policy.receipts import LEAST_CALLS, ReceiptKey
from sayso.policy.rule import Rule
from sayso.policy.rules import build_limits, build_rule
from sayso.schema import Path, parse_path
from sayso.settings import Document, read_document

_RESERVED: Final = ("off", "quarantine", "limits", "first_use")


def load_policy(text: str, where: str = "policy.toml") -> Policy:
    """Load a policy. Raises `PolicyError` with every mistake and its line in the file `where`.

    >>> load_policy('mode = "strict"').mode
    <Mode.STRICT: 'strict'>
    """
    document = read_document(text, where, POLICY)
    policy = _build_policy(document)
    document.finish()
    return policy


def check_policy(policy: object, *, where: str) -> None:
    """Raise `UsageError` at `where` if `policy` is neither a `Policy`, a path nor `None`."""
    if policy is None or isinstance(policy, Policy | str | pathlib.Path):
        return
    what = f"policy must be a Policy or the path of a policy.toml, got {type(policy).__name__}"
    raise UsageError(what, where=where, fix="Write policy=sayso.policy.Policy(mode='strict').")


def reload(current: Policy, text: str, where: str) -> tuple[Policy, PolicyError | None]:
    """Return the loaded policy and `None`, or, if it has mistakes, `current` and the error."""
    try:
        return load_policy(text, where), None
    except PolicyError as error:
        return current, error


def _build_policy(document: Document) -> Policy:
    value = document.sound(document.value)
    roles = {name: frozenset[str](scopes) for name, scopes in value.get("roles", {}).items()}
    off: Mapping[str, Any] = value.get("off", {})
    approvals: Mapping[str, Any] = value.get("approvals", {})
    return Policy(
        mode=value.get("mode", Mode.GUARDED),
        threshold=value.get("threshold", THRESHOLD),
        trust=_trust(document, value.get("trust", {})),
        receipt_keys=_receipt_keys(document, value.get("trust", {}).get(RECEIPT_KEYS, {})),
        operator=_operator(document, value.get("operator", {})),
        roles=roles,
        first_use=_first_use(document, value.get("first_use", {})),
        max_result_characters=_result_limits(document, value.get("max_result_characters", {})),
        dry_run=_dry_runs(document, value.get("dry_run", {})),
        off_servers=off.get("servers", ()),
        off_subjects=off.get("subjects", ()),
        limits=build_limits(value.get("limits", {})),
        tools=value.get("tools", Listing.ALL),
        pin=_pin(document, value),
        forward_meta=_forward_meta(document, value),
        hidden=_hidden(document, value.get("audit", {})),
        rules=_rules(document, roles),
        channels=approvals.get("channels", DEFAULT_CHANNELS),
        people=approvals.get("people", {}),
        open_per_caller=approvals.get("open_per_caller", MAX_OPEN_QUESTIONS),
        where=document.where,
    )


def _hidden(document: Document, table: Mapping[str, Any]) -> tuple[Path, ...]:
    paths: list[Path] = []
    for index, text in enumerate(table.get("hidden", ())):
        try:
            paths.append(parse_path(text))
        except UsageError as error:
            document.report(("audit", "hidden", index), error.what, error.fix)
    return tuple(paths)


def _pin(document: Document, value: Mapping[str, Any]) -> tuple[str, ...]:
    names: list[str] = value.get("pin", [])
    if names and value.get("tools") != Listing.SEARCH and document.is_sound("tools"):
        what = "“pin” has no effect: all tools are listed"
        document.report(("pin",), what, 'Write tools = "search", or remove “pin”.')
    for index, name in enumerate(names):
        if not is_glob(name) and SEPARATOR not in name:
            what = f"“{name}” is not a tool's name behind the gateway"
            fix = f"Put the server's name first: SERVER{SEPARATOR}{name}, or *{SEPARATOR}{name}."
            document.report(("pin", index), what, fix)
    return tuple(names)


def _forward_meta(document: Document, value: Mapping[str, Any]) -> frozenset[str]:
    names: list[str] = value.get("forward_meta", [])
    try:
        return read_forwarded(names)
    except UnfitError as error:
        document.report(("forward_meta",), f"“forward_meta” {error}", "Remove it.")
        return frozenset()


def _trust(document: Document, table: Mapping[str, Any]) -> dict[str, Trust]:
    words = {server: word for server, word in table.items() if server != RECEIPT_KEYS}
    for server in words:
        _check_server(document, "trust", server)
    return {server: Trust(word) for server, word in words.items()}


def _receipt_keys(document: Document, table: Mapping[str, Any]) -> tuple[ReceiptKey, ...]:
    keys: list[ReceiptKey] = []
    for name, entry in table.items():
        key: str | None = entry.get("key")
        if key is None:
            continue  # missing or invalid, which is already reported
        if what := fault_of_key(key):
            fix = "Create one: sayso receipt keygen FILE."
            document.report(("trust", RECEIPT_KEYS, name, "key"), what, fix)
            continue
        layers = frozenset[str](entry.get("layers", CONTAINING))
        keys.append(ReceiptKey(name, key, entry.get("calls", LEAST_CALLS), layers))
    return tuple(keys)


def _operator(document: Document, table: Mapping[str, Any]) -> tuple[Operator, ...]:
    entries: list[Operator] = []
    for server, tools in table.items():
        _check_server(document, "operator", server)
        entries += [Operator(server, tool, Hints(**hints)) for tool, hints in tools.items()]
    return tuple(sorted(entries, key=_nearest_first))


def _first_use(document: Document, value: Any) -> tuple[FirstUse, ...]:
    entries = [
        FirstUse(server, tool, asks=word == Effect.CONFIRM)
        for server, tool, word in _entries(document, "first_use", value)
    ]
    return tuple(sorted(entries, key=_nearest_first))


def _result_limits(document: Document, value: Any) -> tuple[ResultLimit, ...]:
    entries = _entries(document, "max_result_characters", value)
    return tuple(sorted((ResultLimit(*entry) for entry in entries), key=_most_named_first))


def _dry_runs(document: Document, value: Mapping[str, Any]) -> tuple[DryRun, ...]:
    entries = _entries(document, "dry_run", value)
    return tuple(sorted((DryRun(*entry) for entry in entries), key=_most_named_first))


def _entries(document: Document, key: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield server, tool and value of a key, which may be set for all, by server, or by both."""
    for server, for_server in _by_name(value).items():
        _check_server(document, key, server)
        for tool, item in _by_name(for_server).items():
            yield server, tool, item


def _by_name(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {ANY: value}  # pyright: ignore[reportUnknownVariableType] - whatever TOML holds


def _most_named_first(entry: Entry) -> tuple[bool, bool, bool]:
    return (*_nearest_first(entry), entry.tool == ANY)


def _nearest_first(entry: Entry) -> tuple[bool, bool]:
    return entry.server == ANY, is_glob(entry.tool)


def _check_server(document: Document, key: str, server: str) -> None:
    if server != ANY and is_glob(server):
        fix = "Write the full name, or “*” for all servers that are not named."
        document.report((key, server), f"“{server}” must be the name of one server", fix)


def _rules(document: Document, roles: Mapping[str, frozenset[str]]) -> tuple[Rule, ...]:
    tables: Any = document.value.get("rules")
    if not isinstance(tables, list):
        return ()
    rules: list[Rule] = []
    lines: dict[str, int] = {}
    for index, table in enumerate(cast("list[Any]", tables)):
        if not isinstance(table, dict):
            continue  # already reported
        path = ("rules", index)
        sound = document.sound(cast("dict[str, Any]", table), *path)
        _check_name(document, (*path, "name"), sound.get("name"), lines)
        if rule := build_rule(document, path, sound, roles):
            rules.append(rule)
    return tuple(rules)


def _check_name(
    document: Document, path: tuple[str | int, ...], name: str | None, lines: dict[str, int]
) -> None:
    if name is None:
        return
    if name in _RESERVED or name.startswith("mode:"):
        what = f"the rule name “{name}” is reserved for sayso's own decisions"
        document.report(path, what, "Choose another name.")
    if name in lines:
        what = f"the rule on line {lines[name]} has the same name, “{name}”"
        document.report(path, what, "Give each rule a unique name.")
    lines.setdefault(name, document.line_of(path))
