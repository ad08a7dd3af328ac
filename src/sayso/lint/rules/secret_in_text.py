"""A secret in a public text.

## What it does
Finds likely credentials in names, titles, descriptions and schemas: keys with a known prefix,
signed tokens, private keys, passwords in URLs. Obvious placeholders (`<secret>`, `user:password@`)
are ignored.

## Why is this bad
The tool list goes to every client, every model and every log.

## Example
{"name": "query", "description": "Queries https://admin:hunter2secret@db.example.com."}

## Use instead
{"name": "query", "description": "Queries the orders database."}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject
from sayso.schema import redact

_PLACEHOLDER: Final = re.compile(
    r"<[^<>\s]{1,60}>|\{[^{}\s]{1,60}\}|\$\w{1,60}|:(?:pass|password|passwd|pwd|secret|token)@"
    r"|(?:example|placeholder|your)[\w-]{0,60}|[xX*.…]{3,}",
    re.IGNORECASE,
)

_BEGINNINGS: Final = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sayso_", "xox", "AKIA"),
    *("ASIA", "AIza", "eyJ", "-----BEGIN", "bearer ", "Bearer ", "BEARER ", "sk-", "sk_", "pk-"),
    *("pk_", "rk-", "rk_", "@"),
)
"""Every secret that `redact` recognizes by its form contains one of these texts."""


@Rule("SS308", "secret-in-text", Severity.ERROR).for_tool
def _check(tool: Subject) -> Remarks:
    whole = tool.all_text
    if not any(beginning in whole for beginning in _BEGINNINGS) or redact(whole, None) == whole:
        return
    for at, text in tool.texts():
        bare = text and _PLACEHOLDER.sub("", text)
        if bare and redact(bare, None) != bare:
            yield Remark("the text seems to contain a secret", at)
