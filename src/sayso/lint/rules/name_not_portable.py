"""A name that some models do not accept.

## What it does
Finds names of more than 64 characters or with a full stop. The protocol allows them, but several
model APIs and stores do not.

## Why is this bad
The client must rename the tool or drop it.

## Example
{"name": "crm.void_invoice"}

## Use instead
{"name": "crm_void_invoice"}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_LONGEST: Final = 64
_VALID: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@Rule("SS207", "name-not-portable", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not _VALID.fullmatch(tool.name):
        return
    if len(tool.name) > _LONGEST:
        message = f"the name has {len(tool.name)} characters; some clients accept {_LONGEST}"
        yield Remark(message, ("name",))
    if "." in tool.name:
        yield Remark("the name contains a full stop, which some clients reject", ("name",))
