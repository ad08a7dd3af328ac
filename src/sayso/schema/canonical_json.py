"""Canonical JSON (RFC 8785), the form that is digested, and strict reading of JSON text."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast

from sayso.errors import UsageError

_MAX_DEPTH: Final = 200
_PLAIN_DIGITS: Final = 21
_PLAIN_ZEROS: Final = 6
"""How far ECMAScript writes a number without an exponent (Number::toString, steps 6 to 8)."""
_WORDS: Final[Mapping[bool | None, str]] = {None: "null", True: "true", False: "false"}
WriteNumber = Callable[[float], str]
_quoted: Final = json.encoder.encode_basestring
"""A string as JSON, all letters as they are."""


class RepeatedKeyError(UsageError):
    """JSON in which an object gives a key twice."""


def canonical(value: Any) -> bytes:
    """`value` as canonical JSON, UTF-8: sorted keys, no spaces, one spelling per number.

    Follows RFC 8785 but for integers beyond ±2⁵³, which keep all their digits: rounding them
    (RFC 8785 §3.2.2.3) would give two different calls one digest.

    Raises `UsageError` for what JSON cannot say: NaN, infinities, lone surrogates, keys that are
    not strings, other types, nesting deeper than 200, and integers of thousands of digits.
    """
    return _encoded(value, _number)


def digest(value: Any) -> str:
    """SHA-256 of `canonical(value)`, as 64 hexadecimal digits."""
    return sha256(canonical(value)).hexdigest()


def digest_exactly(value: Any) -> str:
    """SHA-256 of canonical JSON that keeps the kind of each number, as 64 hexadecimal digits.

    RFC 8785 writes `1`, `1.0` and `-0.0` without a fraction or sign, but a server may treat them
    differently: what a person approves is one of them. Raises what `canonical` raises.
    """
    return sha256(_encoded(value, _exact_number)).hexdigest()


def parse_json(text: str | bytes) -> Any:
    """Read JSON strictly: a key given twice, NaN and infinities are errors, not guesses.

    So are numbers beyond a double and integers of thousands of digits. Raises `UsageError`, with
    line and column where the text is not JSON at all.
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
        # What is left is the interpreter's own limit on the digits of an integer.
        raise UsageError("an integer is too long to be read") from error
    except RecursionError as error:
        raise UsageError("nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(f"the key {keys.most_common(1)[0][0]!r} is given twice")
    return members


def _refuse_constant(name: str) -> Any:
    raise UsageError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise UsageError("a number is too large to be read")
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
        raise UsageError("a string holds half of a surrogate pair, which is not text") from error


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
            raise UsageError(f"an object's key must be a string, not {key!r}")
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
    """RFC 8785 §3.2.3 sorts by UTF-16 code units, not by code points."""
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
        # Also of a number of an enumeration, whose `str` may be its name.
        return int.__repr__(value)
    except ValueError as error:
        raise UsageError("an integer is too long to be written") from error


def _ecmascript(number: float) -> str:
    """ECMAScript's Number::toString, which RFC 8785 §3.2.2.3 prescribes."""
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
    """Decimal or exponent form of 0.`digits` × 10^`point`."""
    count = len(digits)
    if count <= point <= _PLAIN_DIGITS:
        return digits + "0" * (point - count)
    if 0 < point <= _PLAIN_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if -_PLAIN_ZEROS < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}".rstrip(".")
    return f"{digits[0]}{tail}e{point - 1:+}"
