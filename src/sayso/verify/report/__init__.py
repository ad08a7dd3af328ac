"""Reports of a run: live on a terminal, or as text, JSON, JUnit XML or HTML."""

from sayso.verify.report.formats import FORMATS
from sayso.verify.report.terminal import Terminal

__all__ = ["FORMATS", "Terminal"]
