"""A stranger's text in one line of a terminal or a log, with nothing in it that could steer one."""

import unicodedata


def plain(text: str) -> str:
    """One line of a stranger's `text`, with control and direction characters spelt out.

    A server names its tools; an escape sequence there must not reach the terminal, and a line
    break must not make a line that looks like avow's own.
    """
    return "".join(f"\\u{ord(char):04x}" if is_unseen(char) else char for char in text)


def is_unseen(char: str) -> bool:
    """Whether a character steers a terminal, turns a line's direction, or breaks it."""
    category = unicodedata.category(char)
    return category[0] == "C" or category in ("Zl", "Zp")
