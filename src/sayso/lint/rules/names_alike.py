"""Two names that differ only in case or separators.

## What it does
Finds tools of one server whose names are equal if case, `_`, `-` and `.` are ignored.

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
    names_by_bare: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for tool in server.tools:
        bare = "".join(char for char in tool.name if char not in "_-.").casefold()
        names_by_bare[bare][tool.name] = None
    for names in map(list, names_by_bare.values()):
        if len(names) > 1:
            message = f"names that differ only in case or separators: {listed(names)}"
            yield Remark(message, ("name",), tools=tuple(names))
