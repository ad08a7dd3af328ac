"""The tenant of a caller, from the claim that access.toml names."""

from typing import Any

import pytest

from sayso.access.claims import Terms, read_claims
from sayso.access.load import load_access
from sayso.access.refusal import UnfitError
from sayso.policy import is_reserved

CLAIMS = {"iss": "https://issuer", "sub": "amy", "exp": 100.0}


def tenant_of(more: dict[str, Any], claim: str | None = "tid") -> str | None:
    terms = Terms("https://issuer", tenant=claim)
    return read_claims({**CLAIMS, **more}, terms, now=0.0).principal.tenant


def test_the_tenant_is_what_the_named_claim_says() -> None:
    assert tenant_of({"tid": "acme"}) == "acme"
    assert tenant_of({"org": {"id": "acme"}}, "org.id") == "acme"
    assert tenant_of({"tid": "acme"}, None) is None


@pytest.mark.parametrize("value", [None, "", 7, ["acme"], "a\u202eb", "x" * 256, {}, True])
def test_a_token_whose_tenant_cannot_be_told_is_refused(value: object) -> None:
    with pytest.raises(UnfitError):
        tenant_of({} if value is None else {"tid": value})


def test_no_subject_reads_as_one_in_a_tenant() -> None:
    assert is_reserved("tenant:acme/amy")
    with pytest.raises(UnfitError):
        tenant_of({"sub": "tenant:acme/amy", "tid": "other"})


def test_access_toml_names_the_claim() -> None:
    text = '[oauth]\nissuer = "https://login.example.com"\ntenant = "tid"\n'
    settings = load_access(text, "access.toml")
    assert settings.oauth is not None
    assert settings.oauth.tenant == "tid"
