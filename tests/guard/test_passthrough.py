"""Results that go out unread: only what has exactly the promised form."""

import msgspec

from sayso.guard.passthrough import is_plain
from sayso.guard.schemas import NO_SCHEMAS, schemas_of


def test_a_structure_of_null_is_not_taken_for_no_structure() -> None:
    answer = {"content": msgspec.Raw(b"[]"), "structuredContent": msgspec.Raw(b"null")}
    assert not is_plain(answer, schemas_of({"type": "object"}), 1_000)
    assert not is_plain(answer, NO_SCHEMAS, 1_000)
