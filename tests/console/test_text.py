"""Text of others: nothing in it hides."""

import doctest

import pytest

from sayso.console import arguments, text
from sayso.console.text import reveal, reveal_block
from sayso.schema.plain_text import cut, is_hidden

HIDDEN = {
    "null": 0x0000,
    "escape": 0x001B,
    "delete": 0x007F,
    "next line": 0x0085,
    "no-break space": 0x00A0,
    "soft hyphen": 0x00AD,
    "grapheme joiner": 0x034F,
    "arabic letter mark": 0x061C,
    "hangul filler": 0x3164,
    "em space": 0x2003,
    "zero-width space": 0x200B,
    "zero-width joiner": 0x200D,
    "left-to-right mark": 0x200E,
    "line separator": 0x2028,
    "right-to-left override": 0x202E,
    "pop directional isolate": 0x2069,
    "word joiner": 0x2060,
    "blank braille": 0x2800,
    "byte order mark": 0xFEFF,
    "variation selector": 0xFE0F,
    "lone surrogate": 0xD800,
    "private use": 0xE000,
    "tag": 0xE0041,
    "variation selector of the supplement": 0xE0100,
}
SHOWN = "aÅß漢字אבعربहिन्दी€–“”…😀"


@pytest.mark.parametrize("code", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_hidden_character_shows_as_its_code_point(code: int) -> None:
    shown = f"\u2039U+{code:04X}\u203a"

    assert reveal(f"a{chr(code)}b") == f"a{shown}b"
    assert reveal_block(f"a{chr(code)}b") == f'a<mark class="odd">{shown}</mark>b'


def test_ordinary_letters_of_all_scripts_are_left_alone() -> None:
    assert reveal(SHOWN) == SHOWN
    assert reveal_block(SHOWN) == SHOWN


def test_line_ends_and_tabs_stay_in_a_block_and_show_in_a_line() -> None:
    assert reveal_block("a\n\tb") == "a\n\tb"
    assert reveal("a\n\tb") == "a\u2039U+000A\u203a\u2039U+0009\u203ab"


def test_a_carriage_return_cannot_hide_what_stands_before_it() -> None:
    assert "U+000D" in reveal_block("rm -rf /\rls")


def test_html_stays_text() -> None:
    assert reveal_block("<b>&\u202e</b>") == (
        '&lt;b&gt;&amp;<mark class="odd">\u2039U+202E\u203a</mark>&lt;/b&gt;'
    )


def test_a_space_is_not_hidden() -> None:
    assert not is_hidden(" ")


def test_what_is_cut_says_how_much() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("a" * 1503, 3) == "aaa… (and 1,500 more characters)"


@pytest.mark.parametrize("module", [arguments, text])
def test_the_examples_in_docstrings_hold(module: object) -> None:
    tried = doctest.testmod(module)  # pyright: ignore[reportArgumentType]

    assert tried.attempted
    assert not tried.failed
