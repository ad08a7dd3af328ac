"""A report as one page for a browser, which asks nothing of anybody else."""

from sayso.verify.report.html.page import as_html

__all__ = ["as_html"]
