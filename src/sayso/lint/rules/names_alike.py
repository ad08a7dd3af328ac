"""Two names that differ only in case or separators.

## What it does
Finds names of one server that are equal without case, `_`, `-` and `.`.

## Why is this bad
Models and people mix them up.

## Example
[{"name": "get_user"}, {"name": "getUser"}]

## Use instead
[{"name": "get_user"}, {"name": "get_user_by_mail"}]
"""

from collections import defaultdict

from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Listing


@Rule("SS209", "names-alike", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for tool in server.tools:
        bare = "".join(char for char in tool.name if char not in "_-.").casefold()
        found[bare][tool.name] = None
    for names in map(list, found.values()):
        if len(names) > 1:
            message = f"the name differs from {listed(names[1:])} only in case or separators"
            yield Remark(message, ("name",), tools=tuple(names))
