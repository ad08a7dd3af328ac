"""Lines of the log: each one object or one line, whatever stands in it, and no secret in any."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.guard import Call, CallRequest
from sayso.policy import Principal
from sayso.telemetry.context import CALL
from sayso.telemetry.logs import JsonFormatter, LogFormat, LogLevel, TextFormatter

SECRET = "sk-live-0123456789abcdefghij"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def written(message: str, *values: Any, form: logging.Formatter | None = None, **more: Any) -> str:
    """What a formatter makes of a message."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(form or JsonFormatter())
    # Its own, and nobody else's: what cannot be put together must fail in no other handler.
    logger = logging.Logger("sayso.test")  # noqa: LOG001 - as said
    logger.addHandler(handler)
    logger.warning(message, *values, **more)
    logger.removeHandler(handler)
    return out.getvalue()


@contextmanager
def under_way(**more: Any) -> Generator[None]:
    token = CALL.set(Call(CallRequest("c1", Principal("amy"), "t", {}, 0.0, **more)))
    try:
        yield
    finally:
        CALL.reset(token)


def test_a_line_says_when_how_grave_who_and_what() -> None:
    line = json.loads(written("%s: gone", "s", extra={"incident": "a1"}))

    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "sayso.test",
        "message": "s: gone",
        "incident": "a1",
    }


@pytest.mark.parametrize(
    ("meta", "more"),
    [
        (None, {}),
        ({"traceparent": PARENT}, {"trace": PARENT.split("-")[1]}),
        ({"traceparent": "\n{}"}, {}),
        ({"traceparent": 7}, {}),
    ],
)
def test_a_line_within_a_call_names_it(meta: Any, more: dict[str, str]) -> None:
    with under_way(meta=meta):
        line = json.loads(written("x"))

    named = {key: one for key, one in line.items() if key in ("call", "trace")}
    assert named == {"call": "c1", **more}


@given(some.text(alphabet=some.characters(codec=None)))
def test_whatever_is_said_is_one_line_of_json(text: str) -> None:
    line = written("%s", text, extra={"link": text})

    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert line.isascii()
    json.loads(line)


@given(some.text(alphabet=some.characters(codec=None)))
def test_whatever_is_said_is_one_line_of_text(text: str) -> None:
    line = written("%s", text, form=TextFormatter())

    assert line.startswith("sayso: ")
    assert line[:-1].isprintable() or "\n" not in line[:-1]


def test_secrets_are_masked_wherever_they_stand() -> None:
    error = ValueError(SECRET)
    line = written("it said %s", SECRET, extra={"error": {"token": "hunter2"}}, exc_info=error)

    told = json.loads(line)
    assert SECRET not in line
    assert "hunter2" not in line
    assert told["exception"].startswith("ValueError: ")
    assert SECRET not in written("it said %s", SECRET, form=TextFormatter())


def test_what_a_stack_trace_quotes_is_masked_and_steers_no_terminal() -> None:
    error = ValueError(f"\x1b[31m{SECRET}\rdone")
    line = written("failed", exc_info=error, form=TextFormatter())

    assert line.startswith("sayso: failed\nValueError: ")
    assert SECRET not in line
    assert not {"\x1b", "\r"} & set(line)


def test_a_message_that_cannot_be_put_together_comes_as_it_is() -> None:
    assert json.loads(written("%d of %d", 1))["message"] == "%d of %d"


def test_a_line_has_an_end() -> None:
    assert len(json.loads(written("x" * 100_000))["message"]) == 16_384


SETS_UP = """
import logging, sys, warnings
from sayso.telemetry.logs import *
set_up_logs(LogFormat(sys.argv[1]), LogLevel(sys.argv[2]) if sys.argv[2] else None)
logging.getLogger("sayso").info("told")
logging.getLogger("mcp").error("a stack")
warnings.warn("careful")
print(is_structured())
"""


@pytest.mark.parametrize(
    ("form", "level", "expected"),
    [
        (LogFormat.JSON, "", ["told", "careful"]),
        (LogFormat.JSON, LogLevel.WARNING, ["careful"]),
        (LogFormat.JSON, LogLevel.ERROR, []),
    ],
)
@pytest.mark.process
def test_a_program_is_told_of_what_goes_on(form: str, level: str, expected: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SETS_UP, form, level],
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )

    said = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert len(said) == len(expected)
    assert all(word in one for word, one in zip(expected, said, strict=True))
    assert done.stdout == "True\n"


@pytest.mark.process
def test_a_person_is_told_of_what_goes_wrong() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SETS_UP, "text", ""],
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )
    assert (done.stderr, done.stdout) == ("", "False\n")
