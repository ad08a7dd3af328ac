"""Reports as runs give them, and receipts of them."""

import base64
import json
from pathlib import Path
from typing import Any

from sayso.catalog import make_tool
from sayso.intent import CONTAINING, Package
from sayso.keys import SigningKey, make_signing_key
from sayso.receipts.envelope import encode, write_envelope
from sayso.receipts.statement import make_statement
from sayso.sandbox.spec import Layer
from sayso.schema import canonical
from sayso.verify.verdict import HintVerdict, Report, ToolReport

RAW: dict[str, Any] = {"name": "get_note", "inputSchema": {"type": "object"}}
DIGEST = "ab" * 32
PACKAGE = Package("pypi", "notes", "1.0", DIGEST)
LAYERS = (*sorted(CONTAINING), "syscalls", "files")


def hint(verdict: Any, calls: Any, inputs: tuple[str, ...] = (), **more: Any) -> HintVerdict:
    """Return the result of a hint whose looser value was declared."""
    found: dict[str, Any] = {"reason": "nothing changed", "observers": ("files",), **more}
    return HintVerdict(declared=True, verdict=verdict, calls=calls, inputs=inputs, **found)


def report(
    raw: dict[str, Any] | None = None,
    *,
    digest: str = DIGEST,
    version: str = "1.0",
    layers: tuple[str, ...] = LAYERS,
    **hints: HintVerdict,
) -> Report:
    """A run that has shown one tool to be read-only, or what is said."""
    tool = make_tool("notes", raw or RAW)
    found: Any = hints or {"read_only": hint("supported", 12, ("path=file",))}
    return Report(
        target="notes",
        server={"name": "notes", "version": version},
        layers=tuple(Layer(one, is_active=True) for one in layers),
        tools=(ToolReport(tool.name, tool.fingerprint, found),),
        seed=7,
        seconds=1.5,
        package={"kind": "pypi", "name": "notes", "version": version, "digest": digest},
    )


def key_in(folder: Path, name: str = "ci") -> SigningKey:
    return make_signing_key(folder / f"{name}.key")


def statement(**changes: Any) -> dict[str, Any]:
    return {**make_statement(report().to_dict()), **changes}


def signed(value: Any, key: SigningKey) -> dict[str, Any]:
    """An envelope of anything, properly signed."""
    return json.loads(write_envelope(canonical(value), key))


def written(folder: Path, envelope: Any, name: str = "receipt.json") -> Path:
    file = folder / name
    file.write_text(envelope if isinstance(envelope, str) else json.dumps(envelope))
    return file


def resigned(envelope: dict[str, Any], key: SigningKey, kind: str) -> dict[str, Any]:
    """The envelope with another payload type, signed for that."""
    signature = key.sign(encode(kind, base64.b64decode(envelope["payload"])))
    sig = base64.b64encode(signature).decode()
    return {**envelope, "payloadType": kind, "signatures": [{"sig": sig}]}
