"""An annotation that is probably a hint, misspelled.

## What it does
Finds keys of `annotations` that are none of the protocol's, but look like one: another case,
`read_only_hint`, `readOnly`, `destructive`.

## Why is this bad
Nobody reads them. The hint counts as not declared, and its author believes that it is.

## Example
{"annotations": {"readOnly": true}}

## Use instead
{"annotations": {"readOnlyHint": true}}

## Fix
None: what stands there has never counted, and to let it count is for its author to decide.
"""

import re
from typing import Final

from sayso.intent import WIRE_NAMES
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_NOISE: Final = re.compile(r"[^a-z]|hint")


def _bare(name: str) -> str:
    return _NOISE.sub("", name.lower())


_MEANT: Final = {_bare(name): name for name in WIRE_NAMES.values()}


@Rule("SS105", "unknown-annotation", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    for key in tool.annotations:
        meant = _MEANT.get(_bare(key[:80]))
        if meant is not None and meant != key:
            yield Remark(f"{key} is no annotation: is it {meant}?", ("annotations", key))
