"""Receipts as files: written in one step, and read with care, one or a folder of them."""

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, cast

from sayso.errors import ConfigError, ReceiptError, UsageError
from sayso.keys import SigningKey, load_signing_key
from sayso.receipts.envelope import Envelope, read_envelope, write_envelope
from sayso.receipts.shelf import Shelf
from sayso.receipts.statement import Receipt, make_statement, read_statement
from sayso.schema import canonical, parse_json

LARGEST: Final = 4_000_000
"""Bytes. The receipt of a server with a thousand tools has a quarter of that."""

MOST_FILES: Final = 1_000


class Report(Protocol):
    """The report of a run of `sayso verify`."""

    def to_dict(self) -> dict[str, Any]: ...


def make_receipt(report: Report | Mapping[str, Any], key: SigningKey) -> str:
    """The signed receipt of a run, as the text of a file. Raises `ReceiptError` as its parts do."""
    told = report if isinstance(report, Mapping) else report.to_dict()
    try:
        payload = canonical(make_statement(told))
    except UsageError as error:
        raise ReceiptError(f"the report says what JSON cannot: {error.what}") from error
    text = write_envelope(payload, key)
    if len(text) > LARGEST:
        raise ReceiptError(f"it would be larger than {LARGEST // 1_000_000} MB")
    return text


def write_receipt(report: Report | Mapping[str, Any], key: SigningKey | Path, file: Path) -> None:
    """Write the signed receipt of a run into a file, which is replaced in one step.

    `key` is a private key, or the file that holds it. Raises `KeysError` for one that is
    none, `ReceiptError` for a report that none can be made of, `ConfigError` where the file cannot
    be written.
    """
    text = make_receipt(report, load_signing_key(key) if isinstance(key, Path) else key)
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        what = f"the receipt cannot be written: {error.strerror}"
        raise ConfigError(what, where=str(file)) from error


def read_receipt(file: Path) -> tuple[Envelope, Receipt]:
    """The envelope in a file, and what it says; whose word that is, the envelope tells by key.

    Raises `ReceiptError` for what is no receipt, `ConfigError` for a file that cannot be read.
    """
    where = str(file)
    envelope = read_envelope(_bytes(file), where)
    try:
        value = parse_json(envelope.payload)
    except UsageError as error:
        raise ReceiptError(f"its payload is no JSON: {error}", where=where) from error
    try:
        receipt = read_statement(value, where=file.name, is_signed_by=envelope.is_signed_by)
    except ReceiptError as error:
        raise ReceiptError(error.what, where=where) from error
    return envelope, receipt


def load_receipts(path: Path) -> Shelf:
    """The receipts in a file, or in the `.json` files of a folder; what is wrong stands beside.

    Raises nothing: whoever has no receipt is held to the stricter hints.
    """
    receipts: list[Receipt] = []
    problems: list[str] = []
    for found in _files(path):
        if isinstance(found, str):
            problems.append(found)
            continue
        try:
            receipts.append(read_receipt(found)[1])
        except (ReceiptError, ConfigError) as error:
            problems.append(str(error))
    return Shelf(tuple(receipts), tuple(problems))


def _files(path: Path) -> Iterator[Path | str]:
    if not path.is_dir():
        yield path
        return
    try:
        names = sorted(file.name for file in path.iterdir() if file.suffix == ".json")
        folder = path.resolve()
    except OSError as error:
        yield f"{path}: this folder of receipts cannot be read: {error.strerror}."
        return
    if len(names) > MOST_FILES:
        yield f"{path}: more than {MOST_FILES} receipts are in it; the others are not read."
    for name in names[:MOST_FILES]:
        file = path / name
        if _leads_out(file, folder):
            yield f"{file}: it leads out of the folder of receipts, and is not read."
        else:
            yield file


def _leads_out(file: Path, folder: Path) -> bool:
    try:
        return not file.resolve(strict=False).is_relative_to(folder)
    except (OSError, RuntimeError):
        return True  # links in a circle


def _bytes(file: Path) -> bytes:
    """All of a file, where it is one: a pipe or a device is not waited for."""
    where = str(file)
    try:
        with open(file, "rb", opener=_without_waiting) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise ReceiptError("this is no receipt: it is not a file", where=where)
            data = opened.read(LARGEST + 1)
    except OSError as error:
        what = f"the receipt cannot be read: {error.strerror}"
        raise ConfigError(what, where=where) from error
    if len(data) > LARGEST:
        what = f"this is no receipt: it is larger than {LARGEST // 1_000_000} MB"
        raise ReceiptError(what, where=where)
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_report(file: Path) -> Mapping[str, Any]:
    """A report that `sayso verify --json` has printed."""
    try:
        value: object = json.loads(file.read_bytes())
    except OSError as error:
        what = f"the report cannot be read: {error.strerror}"
        raise ConfigError(what, where=str(file)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError("the report is not JSON", where=str(file)) from error
    report = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if report.get("schema") != 1:
        fix = "Write one: sayso verify TARGET --json."
        raise ConfigError("this is no report of sayso verify", where=str(file), fix=fix)
    return report
