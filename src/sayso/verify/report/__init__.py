"""How a run is told: to a person while it goes on, and to programs and test runners after it.

`terminal` consumes events as they come; the formats take the whole report.
"""

from sayso.verify.report.formats import FORMATS
from sayso.verify.report.terminal import Terminal

__all__ = ["FORMATS", "Terminal"]
