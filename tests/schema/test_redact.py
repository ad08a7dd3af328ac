"""Secrets are masked by the name of their field and by their look; nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avow.schema import MASK, redact


@pytest.mark.parametrize(
    "name",
    ["password", "api_key", "apiKey", "client_secret", "access_token", "Authorization", "passwd"],
)
def test_a_field_with_a_secret_name_is_masked(name: str) -> None:
    assert redact({"a": [{name: "hunter2"}]}) == {"a": [{name: MASK}]}


@pytest.mark.parametrize(
    "name", ["max_tokens", "tokens", "page_token", "pageToken", "passenger", "compass"]
)
def test_a_field_that_only_sounds_secret_is_kept(name: str) -> None:
    assert redact({name: 7}) == {name: 7}


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1" * 18,
        "AKIA" + "A1B2" * 4,
        "sk-proj-" + "a1" * 12,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    ],
)
def test_a_value_that_looks_like_a_secret_is_masked_wherever_it_stands(secret: str) -> None:
    assert secret not in redact({"note": f"use {secret} please"})["note"]


def test_a_password_in_a_url_is_masked_and_the_rest_is_kept() -> None:
    assert redact("postgresql://amy:hunter2@db/shop") == f"postgresql://{MASK}@db/shop"


def test_an_empty_secret_is_left_since_it_holds_nothing() -> None:
    assert redact({"password": ""}) == {"password": ""}


@given(
    st.dictionaries(st.sampled_from(["path", "title", "count"]), st.integers() | st.text("abc 123"))
)
def test_ordinary_arguments_are_kept_as_they_are(arguments: dict[str, object]) -> None:
    assert redact(arguments) == arguments
