"""`sayso receipt`: signing keys, receipts and their verification."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

from sayso.cli.commands import App, option
from sayso.cli.latest_report import find_latest
from sayso.cli.options import Json
from sayso.cli.terminal import make_table, out, plain, plural, print_document, show_text, talk
from sayso.errors import KeysError, ReceiptError
from sayso.intent import HINT_NAMES, HintReceipt, ToolReceipt, fault_of_key
from sayso.receipts import Receipt, read_receipt, read_report, write_receipt
from sayso.styled import Table, Text

_SHOWN_FILES: Final = 5
_KEY_FIX: Final = "Use the public key that sayso receipt keygen printed, without the quotes."

app = App(
    name="receipt",
    help="Sign the results of sayso verify, and check signatures.",
)


@app.command
def keygen(file: str) -> int:
    """Create a private key for signing, and print its public key for policy.toml.

    Only you can read the file. An existing file is not overwritten.

    Parameters
    ----------
    file
        The file for the private key.
    """
    from sayso.keys import make_signing_key

    key = make_signing_key(Path(file))
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(file).stem).strip("-") or "key"
    out().print(Text(f'[trust.receipt_keys]\n{name} = {{ key = "{key.public}" }}'))
    talk().print(Text(plain(f"Keep {file} secret: anyone who has it can sign in your name.")))
    return 0


@app.command
def make(report: str | None = None, *, key: str, to: Annotated[str, option("--out", "-o")]) -> int:
    """Sign a report of sayso verify: write a receipt for the package that ran.

    Parameters
    ----------
    report
        The output of sayso verify TARGET --json. Default: the report of your latest run.
    key
        The file of a private key (sayso receipt keygen).
    to
        The file for the receipt.
    """
    file = find_latest() if report is None else Path(report)
    signed = read_report(file)
    write_receipt(signed, Path(key), Path(to))
    if report is None:
        talk().print(Text(plain(f"Signed the latest run: {signed.get('target')}.")))
    return 0


@app.command
def verify(file: str, *, key: str, as_json: Json = False) -> int:
    """Check that a receipt is unchanged and signed by this key.

    Exit code 1 if the receipt fails the check, 2 if the file or the key cannot be read.

    Parameters
    ----------
    file
        The receipt.
    key
        The public key, in base64.
    """
    if fault := fault_of_key(key):
        raise KeysError(fault, where="--key", fix=_KEY_FIX)
    envelope, receipt = read_receipt(Path(file))
    if not envelope.is_signed_by(key):
        raise ReceiptError("the receipt is not signed by this key", where=file)
    if as_json:
        print_document({"holds": True, "key": key, **_to_dict(receipt)})
    else:
        tools = f"{len(receipt.tools)} {plural(len(receipt.tools), 'tool')}"
        show_text(f"{file}: valid, for {tools} of {receipt.package}")
    return 0


@app.command
def show(file: str, *, as_json: Json = False) -> int:
    """Show a receipt, without checking its signature (see sayso receipt verify).

    Parameters
    ----------
    file
        The receipt.
    """
    _, receipt = read_receipt(Path(file))
    if as_json:
        print_document(_to_dict(receipt))
        return 0
    package = receipt.package
    show_text(f"{package.kind} {package}".lstrip())
    show_text(f"sha256:{package.digest}")
    show_text(_files(package.files))
    show_text(f"made {receipt.made} by sayso {receipt.sayso}, seed {receipt.seed}")
    show_text(f"layers: {', '.join(sorted(receipt.layers)) or 'none'}")
    out().print(_table(receipt.tools))
    talk().print(Text("Signature not checked. Run sayso receipt verify FILE --key KEY."))
    return 0


def _files(files: Mapping[str, str]) -> str:
    """Return the files that a receipt covers, in one line."""
    if not files:
        return "files: not listed, see the digest"
    shown = ", ".join(sorted(files)[:_SHOWN_FILES])
    more = len(files) - _SHOWN_FILES
    return f"files: {shown}{f' and {more} more (--json lists them)' if more > 0 else ''}"


def _to_dict(receipt: Receipt) -> dict[str, Any]:
    return {
        "package": asdict(receipt.package),
        "server": dict(receipt.server),
        "layers": sorted(receipt.layers),
        "sayso": receipt.sayso,
        "profile": receipt.profile,
        "seed": receipt.seed,
        "seconds": receipt.seconds,
        "made": receipt.made,
        "tools": [
            {
                "name": tool.name,
                "fingerprint": tool.fingerprint,
                "hints": {name: _hint(hint) for name, hint in tool.hints.items()},
            }
            for tool in receipt.tools
        ],
    }


def _hint(hint: HintReceipt) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verdict": hint.verdict,
        "calls": hint.calls,
        "inputs": list(hint.inputs),
        "observers": list(hint.observers),
    }
    if hint.is_partial:
        found["partial"] = True
    return found


def _table(tools: tuple[ToolReceipt, ...]) -> Table:
    table = make_table("tool")
    for name in HINT_NAMES:
        table.add_column(name)
    for tool in tools:
        table.add_row(Text(plain(tool.name)), *(_cell(tool.hints.get(name)) for name in HINT_NAMES))
    return table


def _cell(hint: HintReceipt | None) -> Text:
    if hint is None:
        return Text("")
    partly = ", partly observed" if hint.is_partial else ""
    return Text(f"{hint.verdict.replace('_', ' ')} ({hint.calls}{partly})")
