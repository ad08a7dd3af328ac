"""How strictly a loss is taken."""

from enum import StrEnum


class Profile(StrEnum):
    """`spec` takes every overwritten value for a destructive update, as the words of MCP have it.

    By default a record that goes on under its key with other values is not destroyed, and neither
    is what can be had back.
    """

    DEFAULT = "default"
    SPEC = "spec"
