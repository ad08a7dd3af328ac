"""An argument that makes the model write a secret.

## What it does
Finds arguments named like credentials (`api_key`, `access_token`, `client_secret`, `private_key`)
on tools that do not manage credentials.

## Why is this bad
Arguments appear in the conversation, in logs and in the audit record. A server should take its
credentials from its configuration or from the caller's login.

## Example
{"properties": {"api_key": {"type": "string"}, "query": {"type": "string"}}}

## Use instead
{"properties": {"query": {"type": "string"}}}
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_SECRETS: Final = frozenset(
    {("access", "key"), ("access", "token"), ("api", "key"), ("api", "token"), ("auth", "token")}
    | {("bearer", "token"), ("client", "secret"), ("private", "key"), ("secret", "key")}
)
_ALONE: Final = frozenset({"apikey", "passphrase", "passwd", "password"})
_ABOUT_SECRETS: Final = frozenset(
    {"account", "auth", "authenticate", "authentication", "configure", "connection", "credential"}
    | {"key", "login", "password", "secret", "sign", "token", "user", "vault"}
)


@Rule("SS413", "secret-parameter", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not _ABOUT_SECRETS.isdisjoint(tool.words):
        return
    for parameter in tool.parameters:
        if _is_secret(parameter):
            yield Remark(f"the model must write a secret: {parameter.name}", parameter.at)


def _is_secret(parameter: Parameter) -> bool:
    is_named = parameter.words[-2:] in _SECRETS or not _ALONE.isdisjoint(parameter.words[-1:])
    return is_named and parameter.kinds <= {"string"}
