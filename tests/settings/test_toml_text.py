"""Untrusted text in TOML: it comes back unchanged, and stays on its line."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.settings import toml_comment, toml_key, toml_string

ENCODABLE = st.text(st.characters(exclude_categories=["Cs"]))
ANY_TEXT = st.text(st.characters())


@given(text=ENCODABLE)
def test_a_string_and_a_key_come_back_unchanged(text: str) -> None:
    line = f"{toml_key(text)} = {toml_string(text)}"

    assert len(line.splitlines()) == 1
    assert tomllib.loads(line) == {text: text}


@given(text=ANY_TEXT)
def test_a_comment_stays_a_comment(text: str) -> None:
    line = f"# {toml_comment(text, 50)}"

    assert len(line.splitlines()) == 1
    assert tomllib.loads(f"{line}\na = 1") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("crm", "crm"),
        ("", '""'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("a\n[trust]", '"a\\u000a[trust]"'),
        ("\U000e0041\x7f", '"\\U000e0041\\u007f"'),
        ("😀", '"😀"'),
    ],
)
def test_a_key_is_quoted_if_it_must_be(text: str, key: str) -> None:
    assert toml_key(text) == key


def test_a_lone_surrogate_has_no_form() -> None:
    with pytest.raises(UnicodeEncodeError):
        toml_string("\ud800")


def test_a_long_comment_is_cut_and_says_so() -> None:
    assert toml_comment("x" * 60, 50) == f"{'x' * 50}… (and 10 more characters)"
