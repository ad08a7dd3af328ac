"""An annotation that looks like a misspelled hint.

## What it does
Finds keys of `annotations` that resemble a hint, such as `read_only_hint`, `readOnly` or
`destructive`.

## Why is this bad
Clients ignore the key, so the hint counts as not declared, and its author does not notice.

## Example
{"annotations": {"readOnly": true}}

## Use instead
{"annotations": {"readOnlyHint": true}}

## Fix
Not automatic: clients ignored the hint so far, so the author must decide whether it is right.
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
            yield Remark(f"unknown annotation {key}; did you mean {meant}?", ("annotations", key))
