"""Sanitizers for tools that run without a guard."""

import logging
from typing import Any

import anyio
import pytest

import sayso

pytestmark = pytest.mark.anyio


def broken() -> None:
    raise RuntimeError("password=hunter2")


async def broken_later() -> None:
    broken()


async def test_an_exception_becomes_an_error_that_says_nothing_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        answers = [sayso.safe_errors(broken)(), await sayso.safe_errors(broken_later)()]
    for answer in answers:
        text: str = answer["content"][0]["text"]
        assert answer["isError"] is True
        assert "hunter2" not in text
        incident = text.partition("incident ")[2][:12]
        assert incident in caplog.text


async def test_what_works_and_what_is_cancelled_passes() -> None:
    def twice(value: int) -> int:
        return 2 * value

    assert sayso.safe_errors(twice)(2) == 4
    with anyio.move_on_after(0.01) as scope:
        await sayso.safe_errors(anyio.sleep_forever)()
    assert scope.cancelled_caught


def test_a_list_is_cut_and_says_so() -> None:
    cut = sayso.cut_lists({"rows": [{"id": n} for n in range(500)]}, limit=200)
    assert cut.is_cut
    assert cut.fits
    assert cut.total == 500


def test_a_result_is_stripped_to_its_schema_and_a_broken_schema_refused() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert sayso.strip_to_schema({"id": 1, "password": "x"}, schema) == {"id": 1}
    with pytest.raises(sayso.SaysoError):
        sayso.strip_to_schema({}, {"type": 7})
