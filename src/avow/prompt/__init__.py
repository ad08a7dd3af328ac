"""The system prompt, from the hints and the policy that count. Pure: no I/O, no SDK."""

from avow.prompt.build import Prompt, build
from avow.prompt.offer import Names, Offer, Variant
from avow.prompt.quote import TITLE_LIMIT, quote, tame
from avow.prompt.sections import Section, Sections
from avow.prompt.template import TEMPLATE
from avow.prompt.tokens import estimate

__all__ = [
    "TEMPLATE",
    "TITLE_LIMIT",
    "Names",
    "Offer",
    "Prompt",
    "Section",
    "Sections",
    "Variant",
    "build",
    "estimate",
    "quote",
    "tame",
]
