"""Lines of a TOML text: every key that `tomllib` reads has one, and it is the right one."""

import json
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.settings.toml_positions import find_lines

TEXT = '''# a comment with [brackets] and "quotes"
top = 1

[a."b c".'d']   # header
key = """
text with [x]
and \\""" = more""""
other = [ 1, # one
  { x = 'it', "y\\u0041" = [2,
    3] },
]
dotted.deeper = 2026-01-01T00:00:00Z

[[list]]
name = "one"
[[list]]
name = \'\'\'
two\'\'\'
[list.sub]
x = -1.5e3
[[list.inner]]
y = {}
[[list.inner]]
z = []
'''
LINES = {
    ("top",): 2,
    ("a",): 4,
    ("a", "b c", "d"): 4,
    ("a", "b c", "d", "key"): 5,
    ("a", "b c", "d", "other"): 8,
    ("a", "b c", "d", "other", 0): 8,
    ("a", "b c", "d", "other", 1): 9,
    ("a", "b c", "d", "other", 1, "yA", 1): 10,
    ("a", "b c", "d", "dotted", "deeper"): 12,
    ("list", 0): 14,
    ("list", 0, "name"): 15,
    ("list", 1): 16,
    ("list", 1, "name"): 17,
    ("list", 1, "sub", "x"): 20,
    ("list", 1, "inner", 0, "y"): 22,
    ("list", 1, "inner", 1): 23,
    ("list", 1, "inner", 1, "z"): 24,
}


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, ...]] = []
    for key, inner in items:
        found.append((*at, key))
        if isinstance(inner, dict | list):
            found += paths(inner, (*at, key))
    return found


def test_each_key_has_the_line_on_which_it_stands() -> None:
    found = find_lines(TEXT)
    assert {path: found.get(path) for path in LINES} == LINES


def test_every_key_that_is_read_has_a_line_with_either_kind_of_newline() -> None:
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        assert set(paths(tomllib.loads(text))) <= set(find_lines(text))


KEYS = st.text(min_size=0, max_size=6)
VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def spell(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {spell(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n# , ] }\n".join(map(spell, value)) + "\n]"
    if isinstance(value, str) and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value).replace("\x7f", "\\u007f")


@settings(deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_document_has_a_line_for_each_of_its_keys(value: dict[str, Any]) -> None:
    text = "\n".join(f"{json.dumps(key)} = {spell(one)}" for key, one in value.items())
    text = text.replace("\x7f", "\\u007f")
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a surrogate pair, which JSON spells in two escapes
    found = find_lines(text)
    assert set(paths(read)) == set(found)
    lines = text.split("\n")
    for key, line in found.items():
        if len(key) == 1:
            assert lines[line - 1].startswith(json.dumps(key[0]).replace("\x7f", "\\u007f"))
