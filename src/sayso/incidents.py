"""Incidents: unexpected errors, which the log has in full and a client sees only as an id.

The client never gets the error's text, which may contain a secret.
"""

import logging
import traceback
import uuid
from typing import Final

INTERNAL: Final = "Something went wrong inside sayso"
MAX_SUMMARY_CHARACTERS: Final = 300


def report_incident(log: logging.Logger, error: BaseException) -> str:
    """Log an error with its traceback, and return the identifier of the incident."""
    incident = _new_id()
    fields = {"incident": incident}
    log.error("incident %s: %s", incident, type(error).__name__, exc_info=error, extra=fields)
    return incident


def report_incident_briefly(log: logging.Logger, error: BaseException, where: str) -> str:
    """Log an error in one line, and its traceback at DEBUG; return the incident's identifier.

    For errors outside sayso, such as in a tool's function: their tracebacks would fill the log.
    """
    incident = _new_id()
    fields = {"incident": incident}
    log.error("incident %s in %s: %s", incident, where, _summary(error), extra=fields)
    log.debug("incident %s", incident, exc_info=error, extra=fields)
    return incident


def describe_incident(incident: str, what: str = INTERNAL) -> str:
    """Return the message about an incident for a client: what failed, and the identifier.

    >>> describe_incident("0f3a", "The invoice could not be sent.")
    'The invoice could not be sent (incident 0f3a).'
    """
    return f"{what.rstrip('.')} (incident {incident})."


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _summary(error: BaseException) -> str:
    """Return an exception's type, the first line of its text, and the line that raised it."""
    text = str(error).strip().partition("\n")[0][:MAX_SUMMARY_CHARACTERS]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"
