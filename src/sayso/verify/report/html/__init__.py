"""A report as one self-contained HTML page."""

from sayso.verify.report.html.page import as_html

__all__ = ["as_html"]
