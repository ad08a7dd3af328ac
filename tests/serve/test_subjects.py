"""Under which name a caller with a token is known to a bound server."""

import pytest
from mcp.server.auth.provider import AccessToken
from mcp.shared.exceptions import MCPError

from sayso.serve.middleware import principal_of, subject_of


@pytest.mark.parametrize(
    ("subject", "client", "name"),
    [
        ("amy", "app", "amy"),
        (None, "amy", "client:amy"),
        ("", "console", "client:console"),
        ("console", "app", "token:console"),
        ("LINK", "app", "token:LINK"),
        ("client:amy", "app", "token:client:amy"),
        ("local", "app", "token:local"),
    ],
)
def test_a_client_and_a_reserved_name_never_pass_as_a_subject(
    subject: str | None, client: str, name: str
) -> None:
    token = AccessToken(token="x", client_id=client, scopes=[], subject=subject)

    assert subject_of(token) == name


def test_the_tenant_is_what_the_named_claim_of_the_token_says() -> None:
    token = AccessToken(token="x", client_id="app", scopes=[], subject="amy", claims={"tid": "t1"})
    assert principal_of(token, "tid").tenant == "t1"
    assert principal_of(token).tenant is None


@pytest.mark.parametrize("value", [None, "", " ", 7, ["t1"]])
def test_a_token_without_the_named_claim_is_refused(value: object) -> None:
    claims = {"tid": value}
    token = AccessToken(token="x", client_id="app", scopes=[], subject="amy", claims=claims)
    with pytest.raises(MCPError, match="has no tenant"):
        principal_of(token, "tid")
