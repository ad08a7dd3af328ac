"""Reports in the formats of other programs: SARIF, JUnit XML and JSON."""

from sayso.report.json_document import write_json_document
from sayso.report.junit import escaped_xml, junit_case, junit_suite, quoted_xml, write_junit
from sayso.report.sarif import sarif_rule, write_sarif

__all__ = [
    "escaped_xml",
    "junit_case",
    "junit_suite",
    "quoted_xml",
    "sarif_rule",
    "write_json_document",
    "write_junit",
    "write_sarif",
]
