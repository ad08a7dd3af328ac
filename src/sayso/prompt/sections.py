"""Sections that a caller adds to the prompt."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its own heading."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Sections:
    """The caller's sections, inserted verbatim. `+` joins two `Sections`.

    `identity` starts the prompt; the other sections follow the tools, in the order of the fields.

    >>> house = Sections(identity="You work for a studio.", formatting="Answer in Markdown.")
    >>> print((house + Sections(formatting="No tables.")).formatting)
    Answer in Markdown.
    <BLANKLINE>
    No tables.
    """

    identity: str = ""
    routing: str = ""
    formatting: str = ""
    platform: str = ""
    more: tuple[Section, ...] = ()

    def __add__(self, other: Self) -> Self:
        """Join the texts of each section; the left operand's text comes first."""
        texts = {
            field.name: "\n\n".join(
                filter(None, (getattr(self, field.name), getattr(other, field.name)))
            )
            for field in fields(self)
            if field.name != "more"
        }
        return type(self)(**texts, more=self.more + other.more)

    @property
    def after(self) -> tuple[Section, ...]:
        """The non-empty sections that follow the tools."""
        named = (
            Section("Routing", self.routing),
            Section("Formatting", self.formatting),
            Section("Platform", self.platform),
        )
        return tuple(section for section in (*named, *self.more) if section.text.strip())
