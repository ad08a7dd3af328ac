"""The in-toto statement of a receipt: created from a report, or parsed from untrusted data."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, cast, get_args

from sayso.errors import ReceiptError
from sayso.intent import HINT_NAMES, HintName, HintReceipt, Package, ToolReceipt, Verdict
from sayso.version import __version__

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://sayso.io/receipt/v1"

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_LAYER: Final = re.compile(r"[a-z_]{1,40}")
_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
MAX_FILES: Final = 2_000
"""Maximum files whose digests a receipt lists, to report which file changed."""
_MAX_TOOLS: Final = 10_000
_MAX_WORDS: Final = 1_000
_MAX_CHARACTERS: Final = 1_000
_MAX_NUMBER: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Receipt:
    """The results of a verifier run of one package; check the signature before you use them.

    `layers` are the parts of the sandbox that were active. `server` is the server's own name and
    version, `seed` the seed of the inputs, and `made` the time of signing by the signer's clock.
    """

    package: Package
    tools: tuple[ToolReceipt, ...]
    layers: frozenset[str]
    server: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sayso: str = ""
    profile: str = ""
    seed: int = 0
    seconds: float = 0.0
    made: str = ""


def make_statement(report: Mapping[str, Any], now: datetime | None = None) -> dict[str, Any]:
    """Return the statement of a run, from its report as data (`Report.to_dict` of `sayso.verify`).

    Raises `ReceiptError` for a report of a quick run or without a package, or with invalid values.
    """
    if report.get("quick"):
        fix = "Run sayso verify without --quick."
        raise ReceiptError("a quick run leaves out too much to be signed", fix=fix)
    package = _object(report.get("package"), "the package")
    digest: object = package.get("digest")
    if isinstance(digest, Mapping):
        digest = cast("Mapping[str, object]", digest).get("sha256")
    if not digest:
        fix = "Verify a server that sayso starts by a command."
        raise ReceiptError("the report names no package, so no receipt can be made", fix=fix)
    statement: dict[str, Any] = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": package.get("name"), "digest": {"sha256": digest}},
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "server": _server(_object(report.get("server"), "the server")),
            "package": {
                **{name: package.get(name) or "" for name in ("kind", "version")},
                **_files_to_write(package),
            },
            "tools": [_tool(tool) for tool in _list(report.get("tools"), "the tools")],
            "layers": [
                layer.get("name")
                for layer in map(_as_object, _list(report.get("layers"), "the layers"))
                if layer.get("active") is True
            ],
            "sayso": __version__,
            "profile": report.get("profile", ""),
            "seed": report.get("seed", 0),
            "seconds": report.get("seconds", 0.0),
            "made": (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    }
    read_statement(statement)
    return statement


def read_statement(
    value: object, *, where: str = "", is_signed_by: Callable[[str], bool] | None = None
) -> Receipt:
    """Return the receipt of a statement. Unknown fields are ignored (in-toto).

    `is_signed_by` returns whether a public key signed the statement. Raises `ReceiptError` for
    another kind of statement and for invalid values, such as an unknown hint or verdict, a
    duplicate tool, or a supported hint without calls.
    """
    statement = _object(value, "the statement")
    if statement.get("_type") != STATEMENT_TYPE:
        raise ReceiptError(f"_type is not {STATEMENT_TYPE}")
    if statement.get("predicateType") != PREDICATE_TYPE:
        raise ReceiptError(f"predicateType is not {PREDICATE_TYPE}")
    predicate = _object(statement.get("predicate"), "the predicate")
    package = _package(statement, predicate)
    words = [_text(layer, "a layer") for layer in _list(predicate.get("layers"), "layers")]
    if not all(_LAYER.fullmatch(word) for word in words):
        raise ReceiptError("invalid name of a layer")
    layers = frozenset(words)
    bound: dict[str, Any] = {"layers": layers, "package": package.digest, "where": where}
    if is_signed_by is not None:
        bound["is_signed_by"] = is_signed_by
    tools = tuple(_read_tool(tool, bound) for tool in _list(predicate.get("tools"), "tools"))
    if len({(tool.name, tool.fingerprint) for tool in tools}) < len(tools):
        raise ReceiptError("duplicate tool")
    return Receipt(
        package,
        tools,
        layers,
        server=_server(_object(predicate.get("server", {}), "server")),
        sayso=_text(predicate.get("sayso", ""), "sayso"),
        profile=_text(predicate.get("profile", ""), "profile"),
        seed=_count(predicate.get("seed", 0), "seed", least=-_MAX_NUMBER),
        seconds=_seconds(predicate.get("seconds", 0.0)),
        made=_text(predicate.get("made", ""), "made"),
    )


def _package(statement: Mapping[str, Any], predicate: Mapping[str, Any]) -> Package:
    subjects = _list(statement.get("subject"), "subject")
    if len(subjects) != 1:
        raise ReceiptError("a receipt must have one subject, its package")
    subject = _object(subjects[0], "the subject")
    digest = _object(subject.get("digest"), "the digest").get("sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ReceiptError("the package digest is not a hexadecimal SHA-256")
    about = _object(predicate.get("package", {}), "the package")
    files = _object(about.get("files", {}), "files")
    if len(files) > MAX_FILES or not all(map(_is_digest, files.values())):
        raise ReceiptError(f"files must be at most {MAX_FILES} digests")
    return Package(
        _text(about.get("kind", ""), "kind"),
        _text(subject.get("name", ""), "name"),
        _text(about.get("version", ""), "version"),
        digest,
        {_text(name, "a file's path"): digest for name, digest in files.items()},
    )


def _files_to_write(package: Mapping[str, Any]) -> dict[str, Any]:
    files: object = package.get("files")
    if isinstance(files, Mapping) and 0 < len(cast("dict[str, Any]", files)) <= MAX_FILES:
        return {"files": dict(cast("dict[str, Any]", files))}
    return {}


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _server(server: Mapping[str, Any]) -> dict[str, str]:
    found = {name: server.get(name) for name in ("name", "version")}
    return {name: text[:_MAX_CHARACTERS] for name, text in found.items() if isinstance(text, str)}


def _tool(value: object) -> dict[str, Any]:
    tool = _object(value, "a tool")
    hints = _object(tool.get("hints"), "the hints of a tool")
    kept = ("verdict", "calls", "inputs", "observers", "partial")
    return {
        "name": tool.get("name"),
        "fingerprint": tool.get("fingerprint"),
        "hints": {
            name: {key: item for key, item in _object(hint, "a hint").items() if key in kept}
            for name, hint in hints.items()
        },
    }


def _read_tool(value: object, bound: Mapping[str, Any]) -> ToolReceipt:
    tool = _object(value, "a tool")
    name = _text(tool.get("name"), "the name of a tool")
    fingerprint = tool.get("fingerprint")
    if not name or not isinstance(fingerprint, str) or not _DIGEST.fullmatch(fingerprint):
        raise ReceiptError("a tool needs a name and a fingerprint")
    raw = _object(tool.get("hints"), "the hints of a tool")
    hints: dict[HintName, HintReceipt] = {
        hint: _read_hint(_object(raw[hint], "a hint")) for hint in HINT_NAMES if hint in raw
    }
    if len(hints) < len(raw):
        raise ReceiptError(f"“{name}” has unknown hints")
    return ToolReceipt(name, fingerprint, hints, **bound)


def _read_hint(hint: Mapping[str, Any]) -> HintReceipt:
    verdict: Verdict | None = next(
        (word for word in _VERDICTS if word == hint.get("verdict")), None
    )
    if verdict is None:
        raise ReceiptError("unknown verdict")
    calls = _count(hint.get("calls", 0), "a number of calls")
    if verdict == "supported" and calls == 0:
        raise ReceiptError("a hint is supported without calls")
    partial = hint.get("partial", False)
    if not isinstance(partial, bool):
        raise ReceiptError("“partial” must be true or false")
    return HintReceipt(
        verdict,
        calls,
        _words(hint.get("inputs", [])),
        _words(hint.get("observers", [])),
        is_partial=partial,
    )


def _words(value: object) -> tuple[str, ...]:
    return tuple(_text(word, "a word") for word in _list(value, "a list of words", _MAX_WORDS))


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
        raise ReceiptError(f"{what} must be a string of at most {_MAX_CHARACTERS} characters")
    return value


def _count(value: object, what: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= _MAX_NUMBER:
        raise ReceiptError(f"{what} is not a valid number")
    return value


def _seconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= cast("float", value) <= _MAX_NUMBER:
        raise ReceiptError("seconds is not a valid number")
    return float(cast("float", value))


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ReceiptError(f"{what} is not an object")
    return cast("Mapping[str, Any]", value)


def _as_object(value: object) -> Mapping[str, Any]:
    return _object(value, "a layer")


def _list(value: object, what: str, limit: int = _MAX_TOOLS) -> list[object]:
    if not isinstance(value, list) or len(cast("list[object]", value)) > limit:
        raise ReceiptError(f"{what} must be a list of at most {limit} entries")
    return cast("list[object]", value)
