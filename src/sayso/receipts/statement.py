"""The in-toto statement of a receipt: made of a report, and read with nothing taken for granted."""

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
"""Files of a package whose digests a receipt lists, so that it can be said which changed."""
_MOST_TOOLS: Final = 10_000
_MOST_WORDS: Final = 1_000
_LONGEST: Final = 1_000
_MOST_CALLS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a run of one package has shown of its tools; nobody's word until a key is asked.

    `server` is what the server calls itself, `sayso` the version that ran it, `seed` what inputs
    were made from, `made` when it was signed, by the clock of whoever did.
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
    """The statement about a run, from its report as data (`sayso.verify.verdict.Report.to_dict`).

    Raises `ReceiptError` where the report does not say which package was run, or says what cannot
    be: what is not sound is not signed.
    """
    package = _object(report.get("package"), "the package")
    digest: object = package.get("digest")
    if isinstance(digest, Mapping):
        digest = cast("Mapping[str, object]", digest).get("sha256")
    if not digest:
        what = "the report does not tell which package was run, so a receipt would hold for nothing"
        fix = "A receipt is about a server that was started by a command."
        raise ReceiptError(what, fix=fix)
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
    """The receipt that a statement is. Fields that are not known are passed over (in-toto).

    `is_signed_by` says of a public key whether it has signed the statement. Raises
    `ReceiptError` for another kind of statement, and for one that says what cannot be: an unknown
    hint or verdict, one tool twice, what is supported by no call.
    """
    statement = _object(value, "it")
    if statement.get("_type") != STATEMENT_TYPE:
        raise ReceiptError(f"it is no statement of the type {STATEMENT_TYPE}")
    if statement.get("predicateType") != PREDICATE_TYPE:
        raise ReceiptError(f"it is about something else: its predicateType is not {PREDICATE_TYPE}")
    predicate = _object(statement.get("predicate"), "its predicate")
    package = _package(statement, predicate)
    words = [_text(layer, "a layer") for layer in _list(predicate.get("layers"), "its layers")]
    if not all(_LAYER.fullmatch(word) for word in words):
        raise ReceiptError("the name of a layer is none")
    layers = frozenset(words)
    bound: dict[str, Any] = {"layers": layers, "package": package.digest, "where": where}
    if is_signed_by is not None:
        bound["is_signed_by"] = is_signed_by
    tools = tuple(_read_tool(tool, bound) for tool in _list(predicate.get("tools"), "its tools"))
    if len({(tool.name, tool.fingerprint) for tool in tools}) < len(tools):
        raise ReceiptError("one tool stands in it twice")
    return Receipt(
        package,
        tools,
        layers,
        server=_server(_object(predicate.get("server", {}), "its server")),
        sayso=_text(predicate.get("sayso", ""), "its sayso"),
        profile=_text(predicate.get("profile", ""), "its profile"),
        seed=_count(predicate.get("seed", 0), "its seed", least=-_MOST_CALLS),
        seconds=_seconds(predicate.get("seconds", 0.0)),
        made=_text(predicate.get("made", ""), "its made"),
    )


def _package(statement: Mapping[str, Any], predicate: Mapping[str, Any]) -> Package:
    subjects = _list(statement.get("subject"), "its subject")
    if len(subjects) != 1:
        raise ReceiptError("it has not one subject: a receipt is about one package")
    subject = _object(subjects[0], "its subject")
    digest = _object(subject.get("digest"), "its digest").get("sha256")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ReceiptError("the digest of its package is no SHA-256 in hexadecimal")
    about = _object(predicate.get("package", {}), "its package")
    files = _object(about.get("files", {}), "its list of files")
    if len(files) > MAX_FILES or not all(map(_is_digest, files.values())):
        raise ReceiptError(f"its list of files is not at most {MAX_FILES} digests")
    return Package(
        _text(about.get("kind", ""), "its kind"),
        _text(subject.get("name", ""), "its name"),
        _text(about.get("version", ""), "its version"),
        digest,
        {_text(name, "a file's path"): digest for name, digest in files.items()},
    )


def _files_to_write(package: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digests of files, which say what changed; without them if there are too many."""
    files: object = package.get("files")
    if isinstance(files, Mapping) and 0 < len(cast("dict[str, Any]", files)) <= MAX_FILES:
        return {"files": dict(cast("dict[str, Any]", files))}
    return {}


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _server(server: Mapping[str, Any]) -> dict[str, str]:
    found = {name: server.get(name) for name in ("name", "version")}
    return {name: text[:_LONGEST] for name, text in found.items() if isinstance(text, str)}


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
        raise ReceiptError("a tool in it has no name, or no fingerprint")
    said = _object(tool.get("hints"), "the hints of a tool")
    hints: dict[HintName, HintReceipt] = {}
    for known in HINT_NAMES:
        if known in said:
            hints[known] = _read_hint(_object(said[known], "a hint"))
    if len(hints) < len(said):
        raise ReceiptError(f"“{name}” has hints in it that there are none of")
    return ToolReceipt(name, fingerprint, hints, **bound)


def _read_hint(hint: Mapping[str, Any]) -> HintReceipt:
    verdict: Verdict | None = next(
        (word for word in _VERDICTS if word == hint.get("verdict")), None
    )
    if verdict is None:
        raise ReceiptError("a verdict in it is none")
    calls = _count(hint.get("calls", 0), "a number of calls")
    if verdict == "supported" and calls == 0:
        raise ReceiptError("a hint in it is supported by no call")
    partial = hint.get("partial", False)
    if not isinstance(partial, bool):
        raise ReceiptError("“partial” is not true or false")
    return HintReceipt(
        verdict,
        calls,
        _words(hint.get("inputs", [])),
        _words(hint.get("observers", [])),
        is_partial=partial,
    )


def _words(value: object) -> tuple[str, ...]:
    return tuple(_text(word, "a word") for word in _list(value, "a list of words", _MOST_WORDS))


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ReceiptError(f"{what} is not a text of at most {_LONGEST} characters")
    return value


def _count(value: object, what: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= _MOST_CALLS:
        raise ReceiptError(f"{what} is not a number that can be")
    return value


def _seconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= cast("float", value) <= _MOST_CALLS:
        raise ReceiptError("its seconds are not a time")
    return float(cast("float", value))


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ReceiptError(f"{what} is not an object")
    return cast("Mapping[str, Any]", value)


def _as_object(value: object) -> Mapping[str, Any]:
    return _object(value, "a layer")


def _list(value: object, what: str, most: int = _MOST_TOOLS) -> list[object]:
    if not isinstance(value, list) or len(cast("list[object]", value)) > most:
        raise ReceiptError(f"{what} is not a list of at most {most}")
    return cast("list[object]", value)
