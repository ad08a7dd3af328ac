"""Secrets are masked by the name of their field and by their look; nothing else is."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import JSON

from sayso.schema import MASK, redact


def test_what_is_masked_shows_as_three_dots() -> None:
    assert MASK == "•••"


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "passwd",
        "passphrase",
        "pass",
        "db_pass",
        "db-pass",
        "password_hash",
        "passwordConfirmation",
        "api_key",
        "apiKey",
        "api-key",
        "apikey",
        "client_secret",
        "token",
        "Token",
        "access_token",
        "refreshToken",
        "auth_tokens",
        "tokens",
        "Authorization",
        "private_key",
        "credentials",
        "set-cookie",
        "pin",
        "otp",
        "pwd",
        "dbPwd",
        "DB_PWD",
        "user-pwds",
        "cvv",
        "cvv2",
        "cardCvc",
        "ssn",
        "userSSN",
        "employee_ssns",
        "session_id",
        "sessionId",
        "sessionid",
        "SESSION-IDS",
        "sess_id",
        "jwt",
        "id_jwt",
        "totp",
        "sid",
        "secretKey",
        "aws_access_key_id",
        "AccountKey",
        "signing-key",
        "master_keys",
        "security_code",
        "recoveryCodes",
        "verification_code",
        "card_number",
        "cardPin",
        "social_security_number",
        "seed_phrase",
        "proxy-authorization",
        "x.api.key",
        "credentials.json",
        "\N{LATIN SMALL LETTER LONG S}ecret",
        "to\N{KELVIN SIGN}en",
        "ap\N{LATIN SMALL LETTER DOTLESS I}_key",
        "AP\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}_KEY",
        "p\N{LATIN SMALL LETTER DOTLESS I}n",
        "pa\N{COMBINING ACUTE ACCENT}ss",
        "paß",
        "p\N{ZERO WIDTH SPACE}wd",
        "\N{FULLWIDTH LATIN SMALL LETTER C}vv",
    ],
)
def test_a_field_with_a_secret_name_is_masked(name: str) -> None:
    assert redact({"a": [{name: "hunter2"}]}) == {"a": [{name: MASK}]}


@pytest.mark.parametrize(
    "name",
    [
        "page_token",
        "pageToken",
        "next_page_token",
        "cursor_token",
        "passenger",
        "compass",
        "bypass",
        "pinned",
        "drop_pin",
        "class_name",
        "classname",
        "lessons",
        "assn_number",
        "key",
        "primary_key",
        "public_key",
        "sort_key",
        "keyword",
        "zip_code",
        "country_code",
        "error_code",
        "id",
        "session",
        "session_identifier_length",
        "side",
        "pass_count",
        "passed",
        "tokenizer",
        "secretary",
        "author",
        "phrase",
    ],
)
@pytest.mark.parametrize("value", [7, "hunter2", ["a"]], ids=str)
def test_a_field_that_only_sounds_secret_is_kept(name: str, value: object) -> None:
    assert redact({name: value}) == {name: value}


@pytest.mark.parametrize(
    "name", ["tokens", "max_tokens", "max_token", "maxTokens", "n_tokens", "input_tokens"]
)
@pytest.mark.parametrize("count", [0, 7, 7.5])
def test_a_number_of_tokens_is_kept(name: str, count: float) -> None:
    assert redact({name: count}) == {name: count}


@pytest.mark.parametrize("value", ["hunter2", 1234, 0, True, False, 1.5])
def test_under_a_secret_name_one_value_is_masked(value: object) -> None:
    assert redact({"password": value, "pin": value}) == {"password": MASK, "pin": MASK}


def test_under_a_secret_name_a_list_is_masked_by_its_items() -> None:
    assert redact({"tokens": ["a", "b"]}) == {"tokens": [MASK, MASK]}


def test_a_structure_cannot_hide_behind_a_secret_name() -> None:
    call = {"cookie": {"then": ["rm", "-rf", "/"]}, "token": [{"run": "rm"}]}
    assert redact(call) == call


@pytest.mark.parametrize(
    "command",
    [
        "ls # -----BEGIN PRIVATE KEY-----\nrm -rf work",
        "ls # -----BEGIN PRIVATE KEY-----\nreboot\n-----END PRIVATE KEY-----",
        "make clean bearer /home/me/important/../../etc",
    ],
)
def test_a_command_cannot_hide_behind_what_looks_like_a_secret(command: str) -> None:
    assert redact(command) == command


@pytest.mark.parametrize("text", ["-eyJ", "eyJ-", "a:b@", "-----BEGIN ", "sk-", "bearer "])
def test_no_text_takes_long_to_look_through(text: str) -> None:
    redact(text * 50_000)


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1" * 18,
        "AKIA" + "A1B2" * 4,
        "sk-proj-" + "a1" * 12,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "-----BEGIN PRIVATE KEY-----\n" + "MIIEpAIB" * 10 + "\n-----END PRIVATE KEY-----",
    ],
)
def test_a_value_that_looks_like_a_secret_is_masked_wherever_it_stands(secret: str) -> None:
    assert secret not in redact({"note": f"use {secret} please"})["note"]


@pytest.mark.parametrize(
    "shortest",
    [
        "github_pat_" + "a" * 20,
        "glpat-" + "a" * 16,
        "sayso_" + "a" * 8 + "_" + "a" * 20,
        *(f"{word}{sign}{'a' * 16}" for word in ("sk", "pk", "rk") for sign in "-_"),
        *(f"gh{letter}_{'a' * 20}" for letter in "pousr"),
        *(f"xox{letter}-{'a' * 10}" for letter in "abprs"),
        "AKIA" + "A" * 16,
        "ASIA" + "A" * 16,
        "AIza" + "a" * 30,
        "eyJ" + "a" * 8 + "." + "a" * 8 + ".",
        "-----BEGIN PRIVATE KEY-----" + "+/" * 32,
        "bearer " + "a" * 12,
        "BeaReR " + "a" * 12,
        "://:a@",
    ],
)
def test_the_shortest_secret_of_each_kind_is_masked_on_its_own_and_in_a_long_text(
    shortest: str,
) -> None:
    assert MASK in redact(shortest)
    assert MASK in redact(f"{'. ' * 10_000}{shortest}{' .' * 10_000}")


@pytest.mark.parametrize("name", ["db" * 50 + "_password", "password"])
def test_a_secret_name_of_any_length_is_known_each_time(name: str) -> None:
    assert redact({name: "hunter2"}) == redact({name: "hunter2"}) == {name: MASK}


def test_a_password_in_a_url_is_masked_and_the_rest_is_kept() -> None:
    assert redact("postgresql://amy:hunter2@db/shop") == f"postgresql://{MASK}@db/shop"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("redis://:hunter2@cache:6379/0", f"redis://{MASK}@cache:6379/0"),
        ("http://amy:hun@ter2@host/x", f"http://{MASK}@host/x"),
        ("from http://a:b@h/ to ftp://c:d@h/", f"from http://{MASK}@h/ to ftp://{MASK}@h/"),
        ("http://localhost:8080/amy@example.com", "http://localhost:8080/amy@example.com"),
        ("http://amy@host/", "http://amy@host/"),
        ("mail amy@example.com: hello", "mail amy@example.com: hello"),
    ],
)
def test_what_stands_before_the_host_of_a_url_is_masked_if_it_holds_a_password(
    text: str, masked: str
) -> None:
    assert redact(text) == masked


def test_a_bearer_token_is_masked_and_the_word_is_kept() -> None:
    assert redact({"note": "Bearer abc123def456ghi789"}) == {"note": f"Bearer {MASK}"}
    assert redact({"note": "bearer of news"}) == {"note": "bearer of news"}


def test_a_private_key_without_an_end_is_masked_as_far_as_it_goes() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIB" * 10
    assert redact(f"key: {key}\n; ls") == f"key: {MASK}; ls"


@pytest.mark.parametrize("empty", ["", None, [], {}], ids=str)
def test_an_empty_secret_is_left_since_it_holds_nothing(empty: object) -> None:
    assert redact({"password": empty}) == {"password": empty}


@pytest.mark.parametrize("value", [None, True, 7, 1.5, b"sk-live-0123456789abcdef"])
def test_what_is_neither_text_nor_holds_any_is_kept(value: object) -> None:
    assert redact(value) is value


@given(JSON)
def test_redacting_twice_masks_no_more_and_changes_nothing_given(value: Any) -> None:
    before = deepcopy(value)
    once = redact(value)

    assert redact(once) == once
    assert value == before


@given(JSON)
def test_a_secret_is_masked_at_any_depth(value: Any) -> None:
    secret = "ghp_" + "a1" * 18

    assert secret not in str(redact({"a": [value, {"b": (secret, {"token": [value, secret]})}]}))


@given(
    st.dictionaries(st.sampled_from(["path", "title", "count"]), st.integers() | st.text("abc 123"))
)
def test_ordinary_arguments_are_kept_as_they_are(arguments: dict[str, object]) -> None:
    assert redact(arguments) == arguments


def test_a_letter_of_any_script_right_before_a_secret_does_not_save_it() -> None:
    key = f"AKIA{'A' * 16}"
    assert redact(f"密钥{key}。") == f"密钥{MASK}。"
    assert redact(f"clé{key}é") == f"clé{MASK}é"


KEY_BODY = "MIIEpAIB" * 8


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"-----BEGIN RSA PRIVATE KEY-----\\n{KEY_BODY}\\n-----END RSA PRIVATE KEY-----", KEY_BODY),
        (f"-----BEGIN PRIVATE KEY-----\\\\n{KEY_BODY}\\\\n{KEY_BODY}\\\\n", KEY_BODY),
        (f"-----BEGIN EC PRIVATE KEY-----\\r\\n{KEY_BODY}\\r\\n", KEY_BODY),
        (f"-----BEGIN PRIVATE KEY----- {KEY_BODY} {KEY_BODY} -----END PRIVATE KEY-----", KEY_BODY),
        (f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{KEY_BODY}\n{KEY_BODY}", KEY_BODY),
        ("GET /me?access_token=a1b2c3d4", "a1b2c3d4"),
        ("https://x.example/?a=1&api_key=s3cr3t&b=2", "s3cr3t"),
        ("https://x.example/cb?code=1#id_token=abc.def.ghi", "abc.def.ghi"),
        ("https://x.example/?X-Amz-Signature=f00ba4", "f00ba4"),
        ("https://x.example/?ACCESS_TOKEN%3Da1b2", "a1b2"),
        ("https://x.example/?sessionid=a1b2", "a1b2"),
        ("Server=db;User=amy;Password=hunter2;Pooling=1", "hunter2"),
        ("AccountName=x;AccountKey=Zm9vYmFy+a==;", "Zm9vYmFy"),
        ("PGPASSWORD=hunter2 psql", "hunter2"),
        ("export API_TOKEN='hunter2'", "hunter2"),
        ('{"user": "amy", "password": "hunter2"}', "hunter2"),
        ('{\\"client_secret\\": \\"hunter2\\"}', "hunter2"),
        ('{"accessToken":"hunter2"}', "hunter2"),
        ("mysql --password hunter2", "hunter2"),
        ("tool --api-key a1b2c3d4", "a1b2c3d4"),
        ("Authorization: Basic YW15Omh1bnRlcjI=", "YW15Omh1bnRlcjI"),
        ("curl -H 'authorization: basic YW15Omh1bnRlcjI'", "YW15Omh1bnRlcjI"),
        ("Basic YW15Omh1bnRlcjI=", "YW15Omh1bnRlcjI"),
        ("Proxy-Authorization: Digest a1b2c3d4e5", "a1b2c3d4e5"),
        ("X-Api-Key: a1b2c3d4e5", "a1b2c3d4e5"),
        ("npm_" + "a1B2" * 9, "a1B2a1B2"),
        ("pypi-" + "a1B2" * 12, "a1B2a1B2"),
        ("hf_" + "a1B2" * 9, "a1B2a1B2"),
        ("SG." + "a1B2" * 5 + "." + "c3D4" * 8, "c3D4c3D4"),
        ("dckr_pat_" + "a1B2" * 7, "a1B2a1B2"),
        ("hvs." + "a1B2" * 7, "a1B2a1B2"),
        ("ya29." + "a1B2" * 7, "a1B2a1B2"),
        ("xapp-1-A0-" + "a1b2" * 4, "a1b2a1b2"),
        ("AGE-SECRET-KEY-1" + "A1B2" * 12, "A1B2A1B2"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUt"),
        ("AccountKey=" + "ab1/" + "Zm9vYmFy" * 10 + "zz==;EndpointSuffix=x", "Zm9vYmFy"),
        ("SharedAccessKey=Zm9v/" + "Zm9vYmF2" * 5 + "abc=", "YmF2"),
        ('{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}', "K7MDENG"),
        ('{\\"secretKey\\": \\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\\"}', "K7MDENG"),
        ("Authorization: Bearer " + "Zm9vYmFyZm9vYmFyZm/2" * 3 + "==", "YmFy"),
        ("Server=x;Password=p@ssw0rd!;X=1", "ssw0rd"),
        ('{"password": "h*nter#2^x"}', "nter"),
        ("\x1b[31mghp_" + "a1" * 18 + "\x1b[0m", "a1a1"),
        ("\x1b[36mpassword\x1b[0m=\x1b[1;35mhunter2\x1b[0m", "hunter2"),
        ("\\u001b[36mpassword\\u001b[0m=\\u001b[35mhunter2", "hunter2"),
        ("Cookie: session=a1b2c3; theme=dark; other=d4e5", "d4e5"),
        ("curl -H 'cookie: connect.sid=s%3Aa1b2.c3'", "a1b2"),
        ("Set-Cookie: sid=a1b2c3; Path=/; HttpOnly", "a1b2c3"),
        ("eyJhbGciOiJSU0EifQ.abcdefghij.klmnopqrst.uvwxyzabcd.efghijklmn", "efghijklmn"),
        ("https://hooks.slack.com/services/T00000000/B00000000/" + "a1B2" * 6, "a1B2a1B2"),
        ("https://discord.com/api/webhooks/123456789012345678/" + "a1B2" * 17, "a1B2a1B2"),
        ("GOCSPX-" + "a1B2" * 7, "a1B2a1B2"),
        ("NRAK-" + "A1B2" * 6, "A1B2A1B2"),
        ("ATATT3xFfGF0" + "a1B2" * 7, "a1B2a1B2"),
        ("dapi" + "a1b2" * 8, "a1b2a1b2"),
        ("dp.pt." + "a1B2" * 10, "a1B2a1B2"),
    ],
)
@pytest.mark.parametrize("filling", ["", ". " * 1000])
def test_a_secret_in_a_text_is_masked_and_the_text_stays(
    text: str, secret: str, filling: str
) -> None:
    masked = redact(f"{filling}see {text}")
    assert secret not in masked
    assert MASK in masked
    assert masked.startswith(f"{filling}see ")


@pytest.mark.parametrize(
    "text",
    [
        "token=$(rm -rf /)",
        "password=`reboot`",
        "token=/home/me/important/../../etc",
        "pwd; rm -rf work",
        "echo pwd=; rm -rf work",
        "secret = rm -rf work",
        "--token /etc/passwd",
        "--password",
        "the token: rm -rf work",
        "Basic training of all staff",
        "basic /etc/passwd",
        "Basic authentication",
        "a basic understanding",
        "Authorization: see below",
        "npm_config_cache=/tmp",
        "npm_lifecycle_event",
        "https://x.example/?page=2&sort=name",
        "class=assn&lesson=1",
        "key=1",
        "the session id is shown on the page",
        "-----BEGIN PRIVATE KEY----- rm -rf work and then some more words that are long enough",
        "-----BEGIN PRIVATE KEY-----\\nrm -rf work\\n",
        "-----BEGIN PUBLIC KEY-----\\n" + KEY_BODY,
        "signature matters",
        "token: /home/me/important/with2/a/very/long/name/to/delete",
        "secret=/srv/important1/with/a/very/long/name/to/delete/all",
        "token: srv/important1/with/a/very/long/name/to/delete/all",
        "cookie: see below",
        "\x1b[31mnothing\x1b[0m is secret: here",
        "cookie: $(reboot)",
        "SELECT * FROM t WHERE token = 5 OR 1 = 1",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("name", ["name", "key", "Name", "Key"])
@pytest.mark.parametrize("value", ["value", "Value"])
def test_a_value_beside_its_secret_name_is_masked(name: str, value: str) -> None:
    assert redact([{name: "DB_PASSWORD", value: "hunter2"}]) == [{name: "DB_PASSWORD", value: MASK}]
    for kept in ({name: "PATH", value: "/bin"}, {name: "token", value: ""}, {name: 7, value: "x"}):
        assert redact(kept) == kept
    hidden = {name: "token", value: {"then": ["rm", "-rf"]}}
    assert redact(hidden) == hidden


def test_a_word_after_the_flag_of_a_secret_is_masked() -> None:
    words = ["mysql", "--password", "hunter2", "--api-key", "a1b2c3", "--host", "db", 7, "--token"]
    masked = ["mysql", "--password", MASK, "--api-key", MASK, "--host", "db", 7, "--token"]
    assert redact({"argv": words}) == {"argv": masked}


@pytest.mark.parametrize(
    "words",
    [["--token", "/etc/passwd"], ["--token", "$(reboot)"], ["--token", 7], ["-token", "abcdef"]],
)
def test_a_command_cannot_hide_behind_the_flag_of_a_secret(words: list[object]) -> None:
    assert redact(words) == words
