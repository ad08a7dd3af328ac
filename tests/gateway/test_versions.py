"""Clients of each version get only content and fields that their version knows."""

import json
from typing import Any

import msgspec
import pytest

from sayso.connect.envelope import HANDSHAKE_VERSIONS, MODERN
from sayso.gateway.versions import CONTENT_SINCE, FIELDS_SINCE, translate

VERSIONS = [*sorted(HANDSHAKE_VERSIONS), MODERN]
LINK = {
    "type": "resource_link",
    "uri": "file:///report.pdf",
    "name": "report",
    "mimeType": "application/pdf",
    "description": "The yearly report.",
}
AUDIO = {"type": "audio", "data": "A" * 400, "mimeType": "audio/wav"}
TEXT = {"type": "text", "text": "é"}
KNOWN = {"text", "image", "resource"}


def types_of(blocks: list[dict[str, Any]]) -> list[str]:
    return [one["type"] for one in blocks]


def known_in(version: str) -> set[str]:
    return KNOWN | {kind for kind, since in CONTENT_SINCE.items() if since <= version}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("is_raw", [True, False])
def test_a_result_holds_only_content_that_the_version_knows(version: str, *, is_raw: bool) -> None:
    blocks: Any = [TEXT, LINK, AUDIO]
    content = msgspec.Raw(json.dumps(blocks).encode()) if is_raw else blocks
    told = translate("tools/call", {"content": content}, version)
    found = told["content"]
    found = msgspec.json.decode(found) if isinstance(found, msgspec.Raw) else found

    assert {*types_of(found)} <= known_in(version)
    assert found[0] == TEXT
    assert len(found) == len(blocks)
    if version < "2025-06-18":
        for part in ("report", "file:///report.pdf", "application/pdf", "The yearly report."):
            assert part in found[1]["text"]
    else:
        assert found[1] == LINK


def test_a_type_that_is_written_with_escapes_is_translated_too() -> None:
    raw = rb'[{"type": "resource\u005flink", "uri": "a:b", "name": "n"}]'
    told = translate("tools/call", {"content": msgspec.Raw(raw)}, "2025-03-26")
    assert types_of(told["content"]) == ["text"]


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_of_a_prompt_are_translated(version: str) -> None:
    messages = [{"role": "user", "content": one} for one in (TEXT, LINK, AUDIO)]
    told = translate("prompts/get", {"messages": messages}, version)
    found = [one["content"] for one in told["messages"]]
    assert {*types_of(found)} <= known_in(version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "key", "kind"),
    [
        ("tools/list", "tools", "tool"),
        ("prompts/list", "prompts", "entry"),
        ("resources/list", "resources", "entry"),
        ("resources/templates/list", "resourceTemplates", "entry"),
    ],
)
def test_entries_of_lists_hold_only_fields_that_the_version_knows(
    method: str, key: str, kind: str, version: str
) -> None:
    since = FIELDS_SINCE[kind]
    entry = {"name": "a", "x-vendor": 1, **dict.fromkeys(since, "given")}
    told = translate(method, {key: [entry, "no entry"], "_meta": {}}, version)

    (found,) = [one for one in told[key] if isinstance(one, dict)]
    assert found == {"name": "a", "x-vendor": 1} | {
        field: "given" for field, first in since.items() if first <= version
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_structured_content_is_a_text_too_where_a_version_does_not_know_it(
    version: str,
) -> None:
    result = {"content": [], "structuredContent": {"id": 7}}
    told = translate("tools/call", result, version)
    assert told["structuredContent"] == {"id": 7}
    if version < "2025-06-18":
        assert told["content"] == [{"type": "text", "text": '{"id":7}'}]


def test_a_result_that_needs_no_change_keeps_its_bytes() -> None:
    content = msgspec.Raw(b'[{"type":"text","text":"plain"}]')
    assert translate("tools/call", {"content": content}, "2024-11-05")["content"] is content
