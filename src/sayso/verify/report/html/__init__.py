"""A report as one HTML page that loads nothing else."""

from sayso.verify.report.html.page import as_html

__all__ = ["as_html"]
