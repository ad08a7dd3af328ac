"""A name that not every model takes.

## What it does
Finds names of more than 64 characters, and with a full stop: what the protocol allows, and several
models' interfaces and stores do not.

## Why is this bad
The client must rename the tool, or leaves it out.

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
        yield Remark(f"its name has {len(tool.name)} characters; some take {_LONGEST}", ("name",))
    if "." in tool.name:
        yield Remark("its name has a full stop, which some do not take", ("name",))
