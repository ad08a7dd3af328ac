"""Canonical JSON (RFC 8785) for digests, and strict parsing of JSON."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast

from sayso.errors import UsageError

_MAX_DEPTH: Final = 200
# ECMAScript Number::toString, steps 6 to 8: a number is written without an exponent if it has at
# most `_PLAIN_DIGITS` digits before the point, or fewer than `_PLAIN_ZEROS` zeros right after it.
_PLAIN_DIGITS: Final = 21
_PLAIN_ZEROS: Final = 6
_WORDS: Final[Mapping[bool | None, str]] = {None: "null", True: "true", False: "false"}
WriteNumber = Callable[[float], str]
_quoted: Final = json.encoder.encode_basestring
"""Write a string as JSON without ASCII escapes."""


class RepeatedKeyError(UsageError):
    """A JSON object with a duplicate key."""


def canonical(value: Any) -> bytes:
    """Return `value` as canonical JSON in UTF-8: sorted keys, no spaces, one form per number.

    Follows RFC 8785 except for integers beyond ±2⁵³, which keep all digits: rounding them (RFC
    8785 §3.2.2.3) would give different calls the same digest.

    Raises `UsageError` for NaN, infinities, lone surrogates, keys that are not strings, types that
    JSON lacks, nesting deeper than 200 levels, and integers of thousands of digits.
    """
    return _encoded(value, _number)


def digest(value: Any) -> str:
    """Return the SHA-256 of `canonical(value)` as 64 hexadecimal digits."""
    return sha256(canonical(value)).hexdigest()


def digest_exactly(value: Any) -> str:
    """Return the SHA-256 of canonical JSON that keeps the type of each number.

    RFC 8785 does not distinguish `1` and `1.0`, or `0` and `-0.0`, but a server may, and a person
    approves one of them. Raises the errors of `canonical`.
    """
    return sha256(_encoded(value, _exact_number)).hexdigest()


def parse_json(text: str | bytes) -> Any:
    """Parse JSON strictly; raise `UsageError`, with line and column for invalid syntax.

    Duplicate keys, NaN, infinities, numbers too large for a double and integers of thousands of
    digits are errors.
    """
    try:
        if not isinstance(text, str):
            text = text.decode(json.detect_encoding(text))
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}"
        raise UsageError(what, where=f"line {error.lineno}, column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 text (byte {error.start})") from error
    except ValueError as error:
        # The other kinds are caught above, so an integer exceeded Python's limit of digits.
        raise UsageError("integer with too many digits") from error
    except RecursionError as error:
        raise UsageError("nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(f"duplicate key {keys.most_common(1)[0][0]!r}")
    return members


def _refuse_constant(name: str) -> Any:
    raise UsageError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise UsageError("number too large for a double")
    return number


_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_read_float
)


def _encoded(value: Any, number: WriteNumber) -> bytes:
    parts: list[str] = []
    _write(value, parts, 0, number)
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        raise UsageError("string with a lone surrogate") from error


def _write(value: Any, parts: list[str], depth: int, number: WriteNumber) -> None:
    if depth > _MAX_DEPTH:
        raise UsageError(f"nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, str):
        parts.append(_quoted(value))
    elif value is None or isinstance(value, bool):
        parts.append(_WORDS[value])
    elif isinstance(value, int):
        parts.append(_integer(value))
    elif isinstance(value, float):
        parts.append(number(value))
    elif isinstance(value, Mapping):
        _write_object(cast("Mapping[Any, Any]", value), parts, depth, number)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        _write_array(cast("Sequence[Any]", value), parts, depth, number)
    else:
        raise UsageError(f"{type(value).__name__} is not a JSON value")


def _write_object(
    value: Mapping[Any, Any], parts: list[str], depth: int, number: WriteNumber
) -> None:
    is_ascii = True
    for key in value:
        if not isinstance(key, str):
            raise UsageError(f"object keys must be strings, got {key!r}")
        is_ascii = is_ascii and key.isascii()
    parts.append("{")
    comma = ""
    keys = sorted(value) if is_ascii else sorted(value, key=_utf16)
    for key in keys:
        parts.append(f"{comma}{_quoted(key)}:")
        _write(value[key], parts, depth + 1, number)
        comma = ","
    parts.append("}")


def _write_array(value: Sequence[Any], parts: list[str], depth: int, number: WriteNumber) -> None:
    parts.append("[")
    for index, item in enumerate(value):
        if index:
            parts.append(",")
        _write(item, parts, depth + 1, number)
    parts.append("]")


def _utf16(key: str) -> bytes:
    """Return the UTF-16 code units, by which RFC 8785 §3.2.3 sorts."""
    return key.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    number = float(value)
    if not math.isfinite(number):
        raise UsageError(f"{number} is not a JSON number")
    return _ecmascript(number)


def _exact_number(value: float) -> str:
    text = _number(value)
    if value == 0 and math.copysign(1, value) < 0:
        text = "-0"
    if "." not in text and "e" not in text:
        text = f"{text}.0"
    return text


def _integer(value: int) -> str:
    try:
        # `str(value)` would return the name of an enum's member.
        return int.__repr__(value)
    except ValueError as error:
        raise UsageError("integer with too many digits") from error


def _ecmascript(number: float) -> str:
    """Format a number as ECMAScript's Number::toString (RFC 8785 §3.2.2.3)."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, exponent = f"{abs(number)!r}e0".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole.lstrip("0")) + int(exponent)
    if not whole.strip("0"):
        point = int(exponent) - (len(fraction) - len(fraction.lstrip("0")))
    digits = digits.rstrip("0")
    return sign + _place(digits, point)


def _place(digits: str, point: int) -> str:
    """Format 0.`digits` × 10^`point` in decimal or exponent form."""
    count = len(digits)
    if count <= point <= _PLAIN_DIGITS:
        return digits + "0" * (point - count)
    if 0 < point <= _PLAIN_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if -_PLAIN_ZEROS < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}".rstrip(".")
    return f"{digits[0]}{tail}e{point - 1:+}"
