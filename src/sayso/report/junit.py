"""JUnit XML documents, suites and cases, with texts made safe for XML."""

import re
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from sayso.schema import plain

_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(name: str, suites: Sequence[str], *, figures: str = "") -> str:
    """Return a document with these suites; `figures` are additional XML attributes."""
    more = f" {figures}" if figures else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={quoted_xml(name)}{more}>\n'
        f"{''.join(suites)}</testsuites>\n"
    )


def junit_suite(name: str, cases: Sequence[str], *, figures: str) -> str:
    """Return a suite with these cases; `figures` are its counts, as XML attributes."""
    return f"<testsuite name={quoted_xml(name)} {figures}>\n{''.join(cases)}</testsuite>\n"


def junit_case(suite: str, name: str, outcome: str) -> str:
    """Return a case of a suite; `outcome` is its content, as XML."""
    return (
        f"<testcase classname={quoted_xml(suite)} name={quoted_xml(name)}>\n{outcome}</testcase>\n"
    )


def quoted_xml(text: str) -> str:
    """Return a quoted attribute value, without characters that XML forbids."""
    return quoteattr(_spelt(text))


def escaped_xml(text: str) -> str:
    """Return one line of text for an element, without characters that XML forbids."""
    return escape(_spelt(text))


def _spelt(text: str) -> str:
    return _NO_XML.sub("�", plain(text))
