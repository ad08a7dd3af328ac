"""What is looked at of a tool: which texts, how much of them, and what a word there counts."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from sayso.catalog.select.terms import fold, terms

_NAME: Final = 12
_TITLE: Final = 8
_ABOUT: Final = 4
_ARGUMENT: Final = 2
_ARGUMENT_TEXT: Final = 2
"""What a word is worth in each text. Whole numbers, so that sums are the same in any order."""

_LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 600
_LONGEST_ARGUMENT: Final = 200
_MOST_ARGUMENTS: Final = 40
_MOST_TAGS: Final = 20
"""Texts are a server's: none may make a selection cost much. What a tool is for stands at the
beginning of its description. Nor may a word be worth more than the index holds."""


class Text(NamedTuple):
    """One text of a tool: which it is, in words, and what a word in it counts."""

    field: str
    text: str
    worth: int


def texts_of(
    raw: Mapping[str, Any], *, server: str, title: str, category: str, tags: Iterable[str]
) -> Iterator[Text]:
    """The texts of a tool that count, cut to what is looked at."""
    yield Text("name", _cut(raw.get("name"), _LONGEST_NAME), _NAME)
    yield Text("title", _cut(title, _LONGEST_NAME), _TITLE)
    yield Text("server", _cut(server, _LONGEST_NAME), _ABOUT)
    yield Text("category", _cut(category, _LONGEST_NAME), _ABOUT)
    for tag in islice(tags, _MOST_TAGS):
        yield Text("tag", _cut(tag, _LONGEST_NAME), _ABOUT)
    yield Text("description", _cut(raw.get("description"), _LONGEST_TEXT), _ABOUT)
    properties = _object(_object(raw.get("inputSchema")).get("properties"))
    for name, schema in islice(properties.items(), _MOST_ARGUMENTS):
        yield Text("argument", _cut(name, _LONGEST_NAME), _ARGUMENT)
        said = _object(schema).get("description")
        yield Text("argument", _cut(said, _LONGEST_ARGUMENT), _ARGUMENT_TEXT)


def weigh_texts(texts: Iterable[Text]) -> dict[str, int]:
    """How often each term stands in the texts of a tool, by what it is worth there."""
    found: dict[str, int] = {}
    for field, text, worth in texts:
        if not text:
            continue
        said = terms(text)
        if not said and field == "name":
            said = [fold(text)]  # made of words that say nothing elsewhere, as `me` is
        for term in said:
            found[term] = found.get(term, 0) + worth
    return found


def _cut(value: object, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _object(value: object) -> Mapping[Any, Any]:
    return cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {}
