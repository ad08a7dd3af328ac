"""The system prompt, made from hints and policy. No I/O, no SDK."""

from sayso.catalog import estimate
from sayso.prompt.builder import Prompt, build
from sayso.prompt.offer import Names, Offer, Variant
from sayso.prompt.quotation import TITLE_LIMIT, quote, tame
from sayso.prompt.sections import Section, Sections
from sayso.prompt.template import TEMPLATE

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
