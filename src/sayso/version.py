"""The version of sayso."""

__version__ = "0.1.0"
