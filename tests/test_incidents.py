"""What an unexpected error leaves in the log, and what a client is told of it."""

import logging

import pytest

from sayso.incidents import describe_incident, report_incident, report_incident_briefly

_log = logging.getLogger("sayso.test")


def raised(text: str) -> ValueError:
    with pytest.raises(ValueError, match=text) as caught:
        raise ValueError(text)
    return caught.value


def test_an_incident_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    incident = report_incident(_log, raised("hunter2"))
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.__dict__["incident"] == incident
    assert record.getMessage() == f"incident {incident}: ValueError"


def test_a_brief_report_is_one_line_and_a_traceback_at_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "sayso")
    incident = report_incident_briefly(_log, raised("first line\nsecond line"), "send")
    line, more = caplog.records
    said = line.getMessage()
    assert said.startswith(f"incident {incident} in send: ValueError: first line at ")
    assert "second line" not in said
    assert line.exc_info is None
    assert (more.levelname, more.exc_info is None) == ("DEBUG", False)


def test_a_client_is_told_the_identifier_and_nothing_of_the_error() -> None:
    incident = report_incident(_log, raised("hunter2"))
    assert describe_incident(incident) == (
        f"Something went wrong inside sayso (incident {incident})."
    )
