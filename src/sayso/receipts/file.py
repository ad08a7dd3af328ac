"""Reading and writing of receipt files."""

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, cast

from sayso.errors import ConfigError, ReceiptError, UsageError
from sayso.keys import SigningKey, load_signing_key
from sayso.receipts.collection import ReceiptCollection
from sayso.receipts.envelope import Envelope, read_envelope, write_envelope
from sayso.receipts.statement import Receipt, make_statement, read_statement
from sayso.schema import canonical, parse_json

MAX_BYTES: Final = 4_000_000
"""The maximum size of a receipt file: four times a receipt for a thousand tools."""

MAX_FILES: Final = 1_000


class Report(Protocol):
    """The report of a `sayso verify` run."""

    def to_dict(self) -> dict[str, Any]: ...


def make_receipt(report: Report | Mapping[str, Any], key: SigningKey) -> str:
    """Return the signed receipt of a run. Raises `ReceiptError` for an invalid or large report."""
    data = report if isinstance(report, Mapping) else report.to_dict()
    try:
        payload = canonical(make_statement(data))
    except UsageError as error:
        raise ReceiptError(f"the report is not valid JSON: {error.what}") from error
    text = write_envelope(payload, key)
    if len(text) > MAX_BYTES:
        raise ReceiptError(f"the receipt is larger than {MAX_BYTES // 1_000_000} MB")
    return text


def write_receipt(report: Report | Mapping[str, Any], key: SigningKey | Path, file: Path) -> None:
    """Write the signed receipt of a run to a file, replacing it atomically.

    `key` is a private key or its file. Raises `KeysError` for an invalid key, `ReceiptError` for an
    invalid report, and `ConfigError` if the file cannot be written.
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
        what = f"cannot write the receipt: {error.strerror}"
        raise ConfigError(what, where=str(file)) from error


def read_receipt(file: Path) -> tuple[Envelope, Receipt]:
    """Return the envelope in a file and its receipt, whose signatures are not yet checked.

    Raises `ReceiptError` for an invalid receipt, and `ConfigError` for an unreadable file.
    """
    where = str(file)
    envelope = read_envelope(_bytes(file), where)
    try:
        value = parse_json(envelope.payload)
    except UsageError as error:
        raise ReceiptError(f"the payload is not JSON: {error}", where=where) from error
    try:
        receipt = read_statement(value, where=file.name, is_signed_by=envelope.is_signed_by)
    except ReceiptError as error:
        raise ReceiptError(error.what, where=where) from error
    return envelope, receipt


def load_receipts(path: Path) -> ReceiptCollection:
    """Return the receipts in a file, or in the `.json` files of a folder.

    Errors become `problems` of the collection: without a receipt the stricter hints apply.
    """
    receipts: list[Receipt] = []
    problems: list[str] = []
    for entry in _files(path):
        if isinstance(entry, str):
            problems.append(entry)
            continue
        try:
            receipts.append(read_receipt(entry)[1])
        except (ReceiptError, ConfigError) as error:
            problems.append(str(error))
    return ReceiptCollection(tuple(receipts), tuple(problems))


def _files(path: Path) -> Iterator[Path | str]:
    if not path.is_dir():
        yield path
        return
    try:
        names = sorted(file.name for file in path.iterdir() if file.suffix == ".json")
        folder = path.resolve()
    except OSError as error:
        yield f"{path}: cannot read the folder of receipts: {error.strerror}."
        return
    if len(names) > MAX_FILES:
        yield f"{path}: has more than {MAX_FILES} receipts; the others are ignored."
    for name in names[:MAX_FILES]:
        file = path / name
        if _leads_out(file, folder):
            yield f"{file}: links outside the folder of receipts, and is ignored."
        else:
            yield file


def _leads_out(file: Path, folder: Path) -> bool:
    try:
        return not file.resolve(strict=False).is_relative_to(folder)
    except (OSError, RuntimeError):
        return True  # circular links


def _bytes(file: Path) -> bytes:
    """Return the content of a regular file, without waiting for a pipe or a device."""
    where = str(file)
    try:
        with open(file, "rb", opener=_without_waiting) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise ReceiptError("not a receipt: not a regular file", where=where)
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        what = f"cannot read the receipt: {error.strerror}"
        raise ConfigError(what, where=where) from error
    if len(data) > MAX_BYTES:
        what = f"not a receipt: larger than {MAX_BYTES // 1_000_000} MB"
        raise ReceiptError(what, where=where)
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_report(file: Path) -> Mapping[str, Any]:
    """Read a report written by `sayso verify --json`. Raises `ConfigError`."""
    try:
        value: object = json.loads(file.read_bytes())
    except OSError as error:
        what = f"cannot read the report: {error.strerror}"
        raise ConfigError(what, where=str(file)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError("the report is not JSON", where=str(file)) from error
    report = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if report.get("schema") != 1:
        fix = "Write one with `sayso verify TARGET --json`."
        raise ConfigError("not a report of sayso verify", where=str(file), fix=fix)
    return report
