"""Redaction of hostile texts: linear in time, bounded in size, and no half of a secret is shown."""

import time

import pytest

from sayso.schema import MASK, redact, redact_start
from sayso.schema.redaction import MAX_REDACTED_CHARACTERS
from sayso.schema.secret_values import mask_text

KEY = "-----BEGIN PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0" * 500 + ".c2lnbmF0dXJl"
HOSTILE = (
    *(KEY, f"{KEY}\\n", KEY + "A" * 60 + " ", "-----BEGIN " + "A " * 18, "-", "x-a-key: "),
    *("authorization: basic ", "api-key:a", "-key: a.", "eyJ", "eyJ.", "eyJaaaaaaaa.", "bearer "),
    *("basic aaaaaa", "://", "://a:", "://user:pass", "a:", "--password", "--token ", "--a-"),
    *("token=", "token\\", "secrets", "api_key", "session", "sk-", "SG.aaaaaaaaaaaaaaaa.", "A"),
    *("glpat-", "sayso_aaaaaaaaaa_", "sq0aaa-", " ", "1", "é"),
)


def filled(pattern: str, length: int) -> str:
    return (pattern * (length // len(pattern) + 1))[:length]


def seconds(text: str) -> float:
    """The least processor time of two runs."""
    times: list[float] = []
    for _ in range(2):
        begun = time.process_time()
        mask_text(text)
        times.append(time.process_time() - begun)
    return min(times)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_the_time_grows_with_the_length_and_no_faster(pattern: str) -> None:
    short, long = seconds(filled(pattern, 32_768)), seconds(filled(pattern, 262_144))
    assert seconds(filled(pattern, 65_536)) < 0.5
    # Eight times the length; with the square it would be 64 times the time.
    assert long < 30 * max(short, 0.005)


def test_dashes_before_a_name_are_looked_through_once() -> None:
    assert seconds("-" * 65_000 + " password") < 15 * seconds("-" * 65_000)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_more_than_the_limit_is_looked_through(pattern: str) -> None:
    begun = time.process_time()
    for value in (filled(pattern, 4_000_000), {"a": [filled(pattern, 40_000)] * 100}):
        redact(value)
        redact_start(str(value), 16_384)
    # 8 MB take 2 to 24 seconds; what is looked through here is a fiftieth.
    assert time.process_time() - begun < 1.5


@pytest.mark.parametrize(
    "secret",
    [
        f"{KEY}\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEF\n" * 40 + "-----END PRIVATE KEY-----",
        JWT,
        f"Authorization: Bearer {'abcdefgh' * 20}1",
        "https://amy:" + "hunter2x" * 20 + "@example.com/",
        "x-api-key: " + "abcdefgh" * 200 + "1",
        f"ghp_{'a1B2' * 20}",
    ],
)
def test_a_cut_through_a_secret_shows_no_part_of_it(secret: str) -> None:
    words = [secret[at : at + 12] for at in range(len(secret) // 2, len(secret) - 20, 12)]
    length = 2_000
    for gap in (*range(0, 12_000, 371), *range(length - 100, length, 7)):
        text = filled("word ", gap) + " " + secret + " " + filled("word ", 40_000)
        shown = redact_start(text, length)
        assert len(shown) <= length
        for word in words:
            assert word not in shown, gap
    whole = {"a": filled("word ", MAX_REDACTED_CHARACTERS - 300) + " " + secret}
    shown = str(redact(whole))
    for word in words:
        assert word not in shown


def test_a_text_that_fits_is_masked_whole() -> None:
    assert redact_start("token=abc and more", 100) == f"token={MASK} and more"
    assert redact_start("a" * 50, 10) == "a" * 10


def test_what_is_left_out_is_counted() -> None:
    many = redact(["x" * 40_000] * 4)
    assert many[0] == "x" * 40_000
    assert many[1].endswith(f"{MASK} (14,466 more characters)")
    assert many[2] == f"{MASK} (2 more items)"
    fields = redact({str(index): "x" * 30_000 for index in range(5)})
    assert fields[MASK] == "2 more fields"
    assert redact(["x" * 90_000], None) == ["x" * 90_000]
