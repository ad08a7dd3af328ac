"""A name that the protocol does not allow.

## What it does
Finds names of more than 128 characters, and with others than letters, digits, `_`, `-` and `.`.

## Why is this bad
Clients may refuse the tool, and a name with unusual letters can pass for another tool's.

## Example
{"name": "void invoice!"}

## Use instead
{"name": "void_invoice"}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

LONGEST: Final = 128
_ALLOWED: Final = re.compile(r"[A-Za-z0-9_.-]*")


@Rule("SS206", "name-invalid", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    if len(tool.name) > LONGEST:
        yield Remark(f"its name has {len(tool.name)} characters, more than {LONGEST}", ("name",))
    fits = _ALLOWED.match(tool.name)
    if fits and fits.end() < len(tool.name):
        message = f"its name has a character that names may not have: {tool.name[fits.end()]!r}"
        yield Remark(message, ("name",))
