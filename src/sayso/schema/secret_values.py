"""Secrets in texts, recognized by their form."""

import base64
import binascii
import re
from typing import Final

MASK: Final = "•••"

_FORMS: Final = re.compile(
    r"""
      # Only these characters start a secret; checking them first halves the time.
      (?=[-AGNSadefghlnprswxy])
    (?:
      # keys of payment and model services, code hosts, packages, chats, clouds
      \b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bgl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{16,}
    | \bnpm_[A-Za-z0-9]{30,} | \bpypi-[A-Za-z0-9_-]{40,} | \brubygems_[a-f0-9]{40,}
    | \bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}
    | \b(?:hf|gsk|sq0[a-z]{3}|r8|ntn|figd|lin_api|dop_v1|doo_v1|shp(?:at|ca|pa|ss))
      [_-][A-Za-z0-9_-]{20,}
    | \bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | \bwhsec_[A-Za-z0-9+/=]{20,} | \bhv[sbr]\.[A-Za-z0-9_-]{20,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bAGE-SECRET-KEY-1[A-Z0-9]{30,}
    | \bsayso_[A-Za-z0-9]{8,20}_[A-Za-z0-9]{20,}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,} | \bxapp-[A-Za-z0-9-]{10,}
    | \bATATT3[A-Za-z0-9_=-]{20,} | \bGOCSPX-[A-Za-z0-9_-]{20,} | \bNRAK-[A-Z0-9]{20,}
    | \bdapi[a-f0-9]{32} | \bdp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{30,}
    | \bhooks\.slack\.com/services/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{16,}
    | \bdiscord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{40,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
      # a JSON Web Token, encrypted ones with five parts; possessive, so that no text is slow
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+
      (?:\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)?
      # a private key: only its own letters, so that nothing else can hide behind its first line;
      # newlines may be escaped once or twice, or be spaces between lines of full length
    | -----BEGIN[ A-Z]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
      (?:[A-Za-z0-9+/=\r\n]|\\{1,4}[nr]|(?<=[A-Za-z0-9+/=]{60})\ (?=[A-Za-z0-9+/=]{16})
        |(?<=-----)\ (?=[A-Za-z0-9+/=]{60})){64,20000}+
      (?:\ ?-----END[ A-Z]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----)?
    )
    """,
    # Letters of other scripts do not extend a key, for languages without spaces.
    re.VERBOSE | re.ASCII,
)
_IN_URL: Final = re.compile(r"(?P<head>://)[^/ \t-\r:@]{0,200}+:[^/ \t-\r]{1,200}(?=@)", re.ASCII)
"""A user and a password in a URL."""
_BEARER: Final = re.compile(
    r"(?i)(?P<head>bearer\ )[A-Za-z0-9_-]{12,}+(?:\.[A-Za-z0-9_-]++)*+", re.ASCII
)
_NAME: Final = r"""
        (?:passw(?:or)?d|passphrase|passcode|secret|token|credential|cookie|signature
          |(?:api|access|account|private|secret|auth|session|shared|signing)[_-]?key
          |sess(?:ion)?[_-]?id|(?<![A-Za-z0-9])(?:pwd|pass|cvv|cvc|ssn|otp|sig|jwt))s?
"""
_NAMED: Final = re.compile(
    rf"""(?i)
      (?P<head>{_NAME}
        (?:=|%3D|"\s{{0,2}}:\s{{0,2}}"|\\"\s{{0,2}}:\s{{0,2}}\\")["']?)
      [A-Za-z0-9_~%+.=@!\#^*-]{{1,2000}}+
    """,
    re.VERBOSE | re.ASCII,
)
"""A name with a value in a query, a form, a connection string or JSON. The value has no characters
of commands or paths: no space, slash, quote, bracket or semicolon."""
_ENCODED: Final = re.compile(
    rf"""(?i)
      (?P<head>{_NAME}\\?["']?\s{{0,2}}[=:]\s{{0,2}}\\?["']?|\bbearer\ )
      # several short parts in a row are a path
      (?=[A-Za-z0-9+/]{{0,60}}[0-9])(?!(?:[A-Za-z0-9+]{{0,15}}/){{4}})
      [A-Za-z0-9+][A-Za-z0-9+/]{{39,2000}}+={{0,2}}(?![A-Za-z0-9_-]|\.[A-Za-z0-9])
    """,
    re.VERBOSE | re.ASCII,
)
"""A Base64 key, which may contain slashes."""
_COOKIES: Final = re.compile(
    r"""(?i)
      (?P<head>\bcookie\s{0,2}:\s{0,2})
      [a-z0-9_.-]{1,100}=[a-z0-9_~%+.=-]{1,2000}+
      (?:;\ {0,2}[a-z0-9_.-]{1,100}=[a-z0-9_~%+.=-]{1,2000}+){0,50}
    """,
    re.VERBOSE | re.ASCII,
)
_HEADER: Final = re.compile(
    r"""(?i)
      (?P<head>(?:authorization|api-key|-(?:key|token|secret))
        \s{0,2}:\s{0,2}
        (?:(?:basic|bearer|digest|token|key|apikey|negotiate|aws4-[a-z0-9-]{1,16})[ ])?)
      (?=[A-Za-z0-9_~+.=-]{0,2000}[0-9])[A-Za-z0-9_~+.=-]{8,2000}+
    """,
    re.VERBOSE | re.ASCII,
)
_FLAG: Final = re.compile(
    r"""(?i)
      (?P<head>(?<!-)--[a-z-]{0,24}(?:password|passwd|pwd|token|secret|api-?key|access-?key)[ ])
      [A-Za-z0-9_~%+.=][A-Za-z0-9_~%+.=-]{3,2000}+
    """,
    re.VERBOSE | re.ASCII,
)
_AFTER_HEAD: Final = rf"\g<head>{MASK}"
_BASIC: Final = re.compile(r"(?i)(?<=\bbasic\ )[A-Za-z0-9+/]{6,2000}={0,2}", re.ASCII)

COLOURS: Final = re.compile(
    r"(?:\x1b|\\u001b|\\x1b|\\033)\[[0-9;]{0,20}m", re.ASCII | re.IGNORECASE
)
"""A terminal colour sequence, raw or escaped, which may separate a name and its value."""
_SUSPECT: Final = re.compile(r"[A-Za-z0-9_-]{10}|[:=]|--")
"""Every secret matches this; a fast check that rules out most short texts."""
_FORM_PIECES: Final = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "glpat-", "glptt-", "gldt-", "glrt-", "glsoat-", "glcbt-", "sayso_", "xox"),
    *("xapp-", "AKIA", "ASIA", "AIza", "eyJ", "npm_", "pypi-", "rubygems_", "dckr_", "hf_"),
    *("hf-", "gsk_", "gsk-", "sq0", "r8_", "r8-", "ntn_", "ntn-", "figd", "lin_api", "dop_v1"),
    *("doo_v1", "shpat", "shpca", "shppa", "shpss", "SG.", "whsec_", "hvs.", "hvb.", "hvr."),
    *("ya29.", "AGE-SECRET-KEY-1", "-----BEGIN", "ATATT3", "GOCSPX-", "NRAK-", "dapi", "dp."),
    *("hooks.slack.com/", "/api/webhooks/"),
)
"""Every match of `_FORMS` contains one of these; a fast check for long texts."""
_MARGIN: Final = 3_000
"""The number of masked characters to drop before a cut, because part of a secret is not recognized.

They stand for over 2,100 characters of the text, since masking makes a text at most 1.4 times as
long. Only one kind of secret can be longer: a JSON Web Token (`_CUT_TOKEN`)."""
_CUT_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+)?\Z", re.ASCII
)
"""A JSON Web Token whose last part is cut off."""
LOOKS: Final = {
    "url": _IN_URL,
    "encoded": _ENCODED,
    "bearer": _BEARER,
    "forms": _FORMS,
    "basic": _BASIC,
    "cookies": _COOKIES,
    "named": _NAMED,
    "header": _HEADER,
    "flag": _FLAG,
}
"""The patterns in the order of masking, for the console's JavaScript."""
_LONG: Final = 1000
_NAMES: Final = (
    *("pass", "pwd", "secret", "token", "key", "credential", "cvv", "cvc", "ssn", "otp", "sess"),
    *("sig", "jwt", "cookie", "authorization", "bearer "),
)


def mask_text(text: str) -> str:
    """Return a text with secrets masked. If there are any, terminal colours are removed too."""
    if len(text) < _LONG and not _SUSPECT.search(text):
        return text
    bare = COLOURS.sub("", text) if "[" in text else text
    masked = _masked(bare)
    if masked == bare:
        return text
    return masked


def _masked(text: str) -> str:
    lower = text.lower()
    # URLs come first, because their passwords may contain another form.
    if "://" in text:
        text = _IN_URL.sub(_AFTER_HEAD, text)
    has_name = any(name in lower for name in _NAMES)
    if has_name:
        text = _ENCODED.sub(_AFTER_HEAD, text)
    if "bearer " in lower:
        text = _BEARER.sub(_AFTER_HEAD, text)
    if len(text) < _LONG or any(piece in text for piece in _FORM_PIECES):
        text = _FORMS.sub(MASK, text)
    if "basic " in lower:
        text = _BASIC.sub(_mask_basic, text)
    if has_name:
        text = _COOKIES.sub(_AFTER_HEAD, text)
        text = _NAMED.sub(_AFTER_HEAD, text)
        text = _HEADER.sub(_AFTER_HEAD, text)
        if "--" in text:
            text = _FLAG.sub(_AFTER_HEAD, text)
    return text


def mask_after(flag: str, text: str) -> str:
    """Return the argument after `flag`, masked if the flag names a secret."""
    if flag.startswith("--") and (match := _FLAG.match(f"{flag} {text}")):
        return f"{MASK}{text[match.end() - len(flag) - 1 :]}"
    return text


def mask_start(text: str, length: int) -> str:
    """Return about the first `length` characters of a text, with secrets masked.

    Reads only `length` and a margin, which bounds the time. Text near the cut is left out, since a
    cut secret cannot be recognized; a text that fits is returned completely.
    """
    if len(text) <= length:
        return mask_text(text)
    masked = mask_text(text[: length + 2 * _MARGIN])
    if len(text) > length + 2 * _MARGIN:
        masked = _CUT_TOKEN.sub(MASK, masked)
        masked = masked[:-_MARGIN]
    return masked[:length]


def _mask_basic(match: re.Match[str]) -> str:
    """Mask an encoded `user:password`, and keep any other word after "basic"."""
    try:
        text = base64.b64decode(match[0] + "=" * (-len(match[0]) % 4), validate=True)
    except (binascii.Error, ValueError):
        return match[0]
    return MASK if b":" in text else match[0]
