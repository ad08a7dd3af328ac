"""What the script masks: the same names and looks as Python, from one table."""

import json
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.schema import MASK, redact

HERE = Path(__file__).parent
WRITER = runpy.run_path(str(HERE.parents[1] / "tools" / "write_secrets.py"))
SCRIPT = Path(sayso.__file__).parent / "console" / "static" / "sayso-confirm.js"
NAMES = [
    *("pwd", "cvv", "ssn", "session_id", "dbPwd", "CVV2", "user-SSN", "tökens", "classname"),
    *("passcode", "accesskey", "access_key", "apikey", "PIN", "card_pin", "cardPin"),
    *("user_pins", "otp", "totp", "mnemonic", "sid", "sessid", "jwt", "userJwt", "seed_phrase"),
    *("card_number", "social_security", "backup_codes", "authCode", "page_token"),
    *("cursor_token", "max_tokens", "maxTokens", "tokenizer", "secretary", "secretary_name"),
    *("cookie_cutter", "bypass", "compass", "pass", "password2", "pass1", "passport"),
    *("session_ids", "pin_code", "spin", "p\u0131N", "\u017fecret", "\uff50\uff57\uff44"),
    *("tokens_used", "s_e_c_r_e_t", "HMACKey", "signingkey", "keyboard", "class_pass", "pwd2x"),
    *("straßepass", "пароль"),
]
VALUES: list[Any] = [
    *("v", 7, 0, 1.5, True, None, "", [], {}),
    ["a", {"b": "c"}, ["d"], 3],
    {"inner": "x", "pwd": "y"},
]
LONG = "a1" * 24
TEXTS: list[Any] = [
    *(f"{head}{LONG}" for head in ("sk-live_", "glptt-", "npm_", "pypi-", "hf_", "whsec_", "hvs.")),
    *(
        f"{head}{LONG}"
        for head in ("ya29.", "xoxe-", "dckr_pat_", "shpat_", "eyJ", "ghp_", "xapp-")
    ),
    *("password=hunter2", "?token=abc&x=1", '{"pwd": "hunter2"}', "cvv=123", "cvv: 123", "sig=abc"),
    '{\\"secret\\":\\"abc\\"}',
    *("Authorization: Basic dXNlcjpwYXNz", "basic dXNlcjpwYXNz", "basic education", "basic abcde"),
    *("X-Api-Key: abc123456789", "--password hunter2", "postgres://u:p@h/db", "user:pass@host"),
    *("Bearer abcdefghijklmnop", "bearer of news", "session_id=abc", "sid=abc", "tokens=abc"),
    *("SECRET_KEY=ab1/" + LONG, "token: " + "ab1/" * 20, f"eyJ{LONG}.{LONG}.{LONG}.{LONG}.{LONG}"),
    *("\x1b[36mpwd\x1b[0m=\x1b[35mhunter2", f"\\x1B[1mghp_{LONG}", "\x1b[1mwords: none\x1b[0m"),
    *("Cookie: a=b; c=d; e=/f", "Bearer ab1/" + LONG + "==", f"GOCSPX-{LONG}"),
    ["run", "--password", "hunter2", "--token", "/etc", "--api-key", 7, "--host", "abcdef"],
    [{"name": "DB_PASSWORD", "value": "v"}, {"Key": "token", "Value": 7}, {"key": 7, "value": "v"}],
    {"name": "PATH", "value": "v", "key": "pwd"},
    f"SG.{LONG}.{LONG}",
    f"eyJ{LONG}.{LONG}.{LONG}",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----{LONG * 2}",
    f"-----BEGIN RSA PRIVATE KEY-----\\n{LONG * 2}\\n-----END RSA PRIVATE KEY-----",
    *("\u017fecret=abc", "日ghp_" + LONG + "日", "BA\u017fIC dXNlcjpwYXNz", '"pwd"\u00a0:"x"'),
]


def test_the_script_holds_the_table_as_it_is() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    assert WRITER["with_secrets"](script) == script, "run tools/write_secrets.py"


def test_names_that_only_python_knew_are_masked_by_it() -> None:
    names = ("pwd", "cvv", "ssn", "session_id", "passcode", "cardPin")
    assert redact(dict.fromkeys(names, "v")) == dict.fromkeys(names, MASK)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.process
def test_the_script_masks_what_python_masks() -> None:
    cases = [{"name": {name: value}} for name in NAMES for value in VALUES] + TEXTS
    words = ["node", HERE / "redacting.mjs", SCRIPT]
    done = subprocess.run(
        words, input=json.dumps(cases), check=True, capture_output=True, timeout=60, text=True
    )
    for case, said in zip(cases, json.loads(done.stdout), strict=True):
        assert said == redact(case), case
