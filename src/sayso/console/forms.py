"""Reading forms, numbers and CSRF tokens from requests."""

import hmac
import re
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sayso.console.entry.login import Session

_LONGEST: Final = 8192
_LONGEST_KNOWN: Final = 256 * 1024
"""The limit for people with a login or a link, whose forms may contain a call's arguments."""
_MOST_FIELDS: Final = 8
_MOST_FIELDS_KNOWN: Final = 256
_TYPE: Final = "application/x-www-form-urlencoded"

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)

T = TypeVar("T")

CSRF: Final = "csrf"
"""The form field with the session's token."""


async def read_form(request: Request, *, is_known: bool = False) -> dict[str, str]:
    """Return the fields of a posted form, which may be longer if `is_known` (login or link).

    Raises `HTTPException`: 415 for another type, 413 if too long, 400 if invalid.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise HTTPException(415)
    longest, most = (_LONGEST_KNOWN, _MOST_FIELDS_KNOWN) if is_known else (_LONGEST, _MOST_FIELDS)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > longest:
            raise HTTPException(413)
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=most)
    except ValueError as error:
        raise HTTPException(400) from error
    return dict(fields)


def has_token(form: dict[str, str], session: Session) -> bool:
    """Return whether a form has its session's token."""
    token = form.get(CSRF, "").encode("utf-8", "replace")
    return hmac.compare_digest(token, session.csrf.encode())


def number_in(text: str) -> int | None:
    """Return a text as a positive number; `None` if it is not one.

    >>> number_in("12"), number_in("0"), number_in("x")
    (12, None, None)
    """
    return int(text) if _NUMBER.fullmatch(text) else None


def found(thing: T | None) -> T:
    """Return `thing`. Raises `HTTPException` 404 if it is `None`."""
    if thing is None:
        raise HTTPException(404)
    return thing
