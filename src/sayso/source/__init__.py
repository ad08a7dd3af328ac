"""Static analysis of a server's Python source: tools, effects of handlers, annotations."""

from sayso.source.constants import Constant, Constants, compared_constants, fold
from sayso.source.definitions import Definition, find_definitions
from sayso.source.handlers import read_handlers
from sayso.source.patch import Added, Left, Patch, annotate_source
from sayso.source.program import Module, read_module
from sayso.source.report import Effect, Handler, Kind, Note

__all__ = [
    "Added",
    "Constant",
    "Constants",
    "Definition",
    "Effect",
    "Handler",
    "Kind",
    "Left",
    "Module",
    "Note",
    "Patch",
    "annotate_source",
    "compared_constants",
    "find_definitions",
    "fold",
    "read_handlers",
    "read_module",
]
