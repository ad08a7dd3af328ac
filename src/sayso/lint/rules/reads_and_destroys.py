"""One tool that reads or destroys, depending on an argument.

## What it does
Finds tools with an argument that chooses the operation (`action`, `operation`, `method`) where some
choices read and others destroy.

## Why is this bad
The hints can describe only one of the operations. Clients ask before every read, or never ask
before a deletion. Stores require separate tools.

## Example
{"name": "orders", "inputSchema": {"type": "object",
 "properties": {"action": {"enum": ["list", "delete"]}}}}

## Use instead
[{"name": "list_orders"}, {"name": "delete_order"}]

## Fix
Not automatic. Split the tool. If that is not possible, declare the worst case and narrow it per
call (`sayso.declare(narrow=…)`).
"""

from typing import Final

from sayso.catalog import word_list
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CHOOSERS: Final = frozenset(
    {"action", "cmd", "command", "method", "mode", "op", "operation", "subcommand", "verb"}
)
_READS: Final = frozenset(
    {"describe", "fetch", "find", "get", "head", "list", "query", "read", "search", "show"}
    | {"status", "view"}
)
_DESTROYS: Final = frozenset(
    {"cancel", "clear", "delete", "destroy", "drop", "erase", "kill", "purge", "remove", "reset"}
    | {"revoke", "terminate", "truncate", "uninstall", "wipe"}
)
_HTTP_METHODS: Final = frozenset(
    {"connect", "delete", "get", "head", "options", "patch", "post", "put", "trace"}
)
_STORES: Final = frozenset(
    {"add", "create", "edit", "import", "insert", "patch", "put", "register", "replace", "save"}
    | {"set", "store", "update", "upsert", "write"}
)


@Rule("SS501", "reads-and-destroys", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    stores = not _STORES.isdisjoint(tool.words[:1])
    for parameter in tool.parameters:
        if not parameter.words or parameter.words[-1] not in _CHOOSERS or "http" in parameter.words:
            continue
        if not (stores and _HTTP_METHODS.issuperset(map(str.lower, parameter.choices))):
            yield from _remarks(parameter)


def _remarks(parameter: Parameter) -> Remarks:
    first = {choice: word_list(choice[:40])[:1] for choice in parameter.choices}
    reads = [choice for choice, words in first.items() if not _READS.isdisjoint(words)]
    destroys = [choice for choice, words in first.items() if not _DESTROYS.isdisjoint(words)]
    # If there is an `add`, then `remove` undoes it, and nothing is lost.
    if ["add"] in first.values():
        destroys = [choice for choice in destroys if first[choice] != ["remove"]]
    if reads and destroys:
        message = (
            f"argument {parameter.name} selects a read ({reads[0]}) or a delete ({destroys[0]})"
        )
        yield Remark(message, parameter.at)
