"""A name that the protocol does not allow.

## What it does
Finds names of more than 128 characters, and names with characters other than letters, digits, `_`,
`-` and `.`.

## Why is this bad
Clients may reject the tool, and unusual letters can imitate another tool's name.

## Example
{"name": "void invoice!"}

## Use instead
{"name": "void_invoice"}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_LONGEST: Final = 128
_ALLOWED: Final = re.compile(r"[A-Za-z0-9_.-]*")


@Rule("SS206", "name-invalid", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    if len(tool.name) > _LONGEST:
        yield Remark(
            f"the name has {len(tool.name)} characters; the limit is {_LONGEST}", ("name",)
        )
    fits = _ALLOWED.match(tool.name)
    if fits and fits.end() < len(tool.name):
        message = f"the name contains an invalid character: {tool.name[fits.end()]!r}"
        yield Remark(message, ("name",))
