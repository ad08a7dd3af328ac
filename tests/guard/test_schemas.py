"""Arguments that do not fit reach no person or server; results fit in both blocks."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sample_tools import AMY, DELETE, READ, WRITE, tool

from sayso.approvals import Approvals
from sayso.audit import AuditLog
from sayso.catalog import Tool
from sayso.connect import Fault, RpcError
from sayso.errors import UnreachableError
from sayso.guard import Call, Guard
from sayso.policy import load_policy
from sayso.store import Database, open_store

pytestmark = pytest.mark.anyio

CUSTOMER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
ROWS: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": CUSTOMER}, "cursor": {"type": "string"}},
    "required": ["rows"],
}


class Server:
    """A server with one tool, which gives the answer of the test."""

    def __init__(self, store: Database, one: Tool, *answers: dict[str, Any] | Exception) -> None:
        self.store, self.one, self.answers = store, one, list(answers)
        self.calls = 0

    async def find(self, _: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG002 - a seam
        return self.one

    async def run(self, call: Call) -> dict[str, Any]:
        self.calls += 1
        call.is_sent = True
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def call(self, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        guard = Guard(
            self.find,
            self.run,
            Approvals.of(self.store),
            AuditLog(self.store.records),
            self.store.claims,
            **more,
        )
        return await guard.call(AMY, "t", arguments or {})

    async def log(self) -> list[tuple[str, str | None]]:
        rows = await self.store.records.newest()
        return [(row.event, json.loads(row.body).get("outcome")) for row in reversed(rows)]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Database]:
    opened = open_store(f"sqlite:{tmp_path / 'sayso.db'}")
    yield opened
    await opened.close()


def result(structured: Any, text: str | None = None) -> dict[str, Any]:
    block = {"type": "text", "text": json.dumps(structured) if text is None else text}
    return {"content": [block], "structuredContent": structured}


def text(answer: dict[str, Any]) -> str:
    return answer["content"][0]["text"]


async def test_arguments_that_do_not_fit_reach_neither_person_nor_server(store: Database) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    server = Server(store, tool(annotations=DELETE, inputSchema=schema))
    answer = await server.call({"id": "seven"})
    assert answer["isError"] is True
    assert '- id: "seven" is not of type "integer"' in text(answer)
    assert server.calls == 0
    assert await server.log() == [("refused", "bad_arguments")]


async def test_a_schema_that_is_none_checks_nothing(store: Database) -> None:
    broken = {"type": "objekt"}
    server = Server(
        store, tool("get_t", READ, inputSchema=broken, outputSchema=broken), result({"a": 1})
    )
    assert (await server.call({"id": "seven"}))["structuredContent"] == {"a": 1}


async def test_fields_outside_the_schema_are_in_neither_block(store: Database) -> None:
    server = Server(
        store, tool("get_t", READ, outputSchema=CUSTOMER), result({"id": 7, "password": "hunter2"})
    )
    answer = await server.call()
    assert answer["structuredContent"] == {"id": 7}
    assert json.loads(text(answer)) == {"id": 7}
    assert "hunter2" not in json.dumps(answer)


async def test_what_fits_passes_as_it_is(store: Database) -> None:
    given = result({"id": 7}, text='{ "id":7 }')
    server = Server(store, tool("get_t", READ, outputSchema=CUSTOMER), given)
    assert await server.call() is given


async def test_a_result_that_breaks_its_schema_is_an_error_that_quotes_nothing(
    store: Database,
) -> None:
    server = Server(store, tool("get_t", READ, outputSchema=CUSTOMER), result({"id": "hunter2"}))
    answer = await server.call()
    assert answer["isError"] is True
    assert "hunter2" not in json.dumps(answer)
    assert "structuredContent" not in answer
    assert (await server.log())[-1] == ("outcome", "bad_output")


async def test_a_long_list_is_cut_within_its_schema_and_says_so(store: Database) -> None:
    rows = {"rows": [{"id": n} for n in range(1000)]}
    server = Server(store, tool("get_t", READ, outputSchema=ROWS), result(rows))
    answer = await server.call(limit=500)
    kept = answer["structuredContent"]
    assert kept["rows"] == rows["rows"][: len(kept["rows"])]
    assert json.loads(text(answer)) == kept
    assert answer["_meta"]["truncated"] is True
    assert answer["content"][-1]["text"].startswith(
        f"Showing the first {len(kept['rows'])} of 1000"
    )


@pytest.mark.parametrize(
    ("cursor", "kept", "how"),
    [
        ({"type": "string"}, {}, "“cursor” would have skipped them and is removed."),
        ({"type": ["string", "null"]}, {"cursor": None}, "“cursor” would have skipped them and is"),
        (None, {"cursor": "next"}, "“cursor” continues after them, so it skips them."),
    ],
    ids=["optional", "nullable", "required"],
)
async def test_a_cursor_that_would_skip_what_was_cut_is_taken_out_as_the_schema_lets(
    store: Database, cursor: Any, kept: dict[str, Any], how: str
) -> None:
    rows = {"rows": [{"id": n} for n in range(1000)], "cursor": "next"}
    properties = {**ROWS["properties"], "cursor": cursor or {"type": "string"}}
    wanted = ["rows"] if cursor else ["rows", "cursor"]
    schema = {**ROWS, "properties": properties, "required": wanted}
    server = Server(store, tool("get_t", READ, outputSchema=schema), result(rows))
    answer = await server.call(limit=500)
    told, said = answer["structuredContent"], answer["content"][-1]["text"]
    assert {key: one for key, one in told.items() if key != "rows"} == kept
    assert json.loads(text(answer)) == told
    count = len(told["rows"])
    assert said.startswith(f"Showing the first {count} of 1000; the other {1000 - count} are left ")
    assert how in said


async def test_a_structure_without_a_schema_is_cut_in_both_blocks(store: Database) -> None:
    rows = {"rows": [{"id": n} for n in range(1000)], "next_cursor": "next"}
    server = Server(store, tool("get_t", READ), result(rows))
    answer = await server.call(limit=500)
    assert len(answer["structuredContent"]["rows"]) < 1000
    assert answer["structuredContent"]["next_cursor"] is None
    assert json.loads(text(answer)) == answer["structuredContent"]


async def test_each_text_that_was_cut_has_a_sentence_of_its_own(store: Database) -> None:
    blocks = [
        {"type": "text", "text": json.dumps([{"id": n} for n in range(count)])}
        for count in (1000, 2000)
    ]
    server = Server(store, tool("get_t", READ), {"content": blocks})
    _, _, first, second = (await server.call(limit=500))["content"]
    assert " of 1000; " in first["text"]
    assert " of 2000; " in second["text"]


async def test_json_text_without_a_schema_loses_items_and_prose_its_end(store: Database) -> None:
    long, prose = json.dumps([{"id": n} for n in range(1000)]), "word " * 1000
    blocks = [{"type": "text", "text": long}, {"type": "text", "text": prose}]
    server = Server(store, tool("get_t", READ), {"content": blocks})
    answer = await server.call(limit=500)
    assert len(json.loads(text(answer))) > 1
    assert answer["content"][1]["text"].startswith("word word")
    assert answer["content"][1]["text"].endswith(" of 5000 characters]")
    assert sum(len(one["text"]) for one in answer["content"][:2]) <= 500
    assert answer["_meta"]["truncated"] is True


@pytest.mark.parametrize(
    "body",
    ['{"text": "' + "x" * 900 + '"}', "[not json" + "x" * 900, "5" * 900, "[" * 100_000],
    ids=["in JSON", "like JSON", "a number", "too deep"],
)
async def test_one_long_text_is_cut_and_what_is_no_text_stays(store: Database, body: str) -> None:
    given = {"content": [{"type": "text", "text": body}, {"type": "image", "data": "z" * 900}]}
    server = Server(store, tool("get_t", READ), given)
    answer = await server.call(limit=500)
    assert len(text(answer)) <= 500
    assert "[cut: the first " in text(answer)
    assert answer["content"][1] == given["content"][1]
    assert "cut to the first" in answer["content"][2]["text"]


@pytest.mark.parametrize("structured", [None, {"rows": ["x" * 90] * 90}])
async def test_a_long_error_is_cut_and_stays_an_error(store: Database, structured: Any) -> None:
    given: dict[str, Any] = {
        "content": [{"type": "text", "text": "Traceback " * 1000}],
        "isError": True,
    }
    if structured is not None:
        given["structuredContent"] = structured
    server = Server(store, tool("get_t", READ, outputSchema=CUSTOMER), given)
    answer = await server.call(limit=500)
    assert answer["isError"] is True
    assert len(json.dumps(answer["content"][:2])) < 1_500
    assert len(json.dumps(answer.get("structuredContent"))) < 700
    assert "[cut: the first " in json.dumps(answer["content"], ensure_ascii=False)
    short = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert await Server(store, tool("get_t", READ), short).call(limit=500) is short


@pytest.mark.parametrize(
    ("rules", "most"),
    [
        ("max_result_characters = 700", 700),
        ("max_result_characters = { demo = 800, other = 900 }", 800),
        ('max_result_characters = { "*" = 900, demo = { "*" = 800, "get_*" = 700 } }', 700),
        ('max_result_characters = { demo = { "get_*" = 700, get_t = 600 } }', 600),
        ("max_result_characters = { demo = { list_t = 700 }, other = 600 }", 500),
    ],
)
async def test_the_policy_says_how_long_a_tools_results_may_be(
    store: Database, rules: str, most: int
) -> None:
    policy = load_policy(rules)
    assert policy.result_characters("demo", "get_t") in (most, None)
    rows = {"rows": [{"id": n} for n in range(1000)]}
    one = tool("get_t", READ, outputSchema=ROWS)
    assert one.server == "demo"
    answer = await Server(store, one, result(rows)).call(limit=500, policy=lambda: policy)
    assert most - 20 < len(text(answer)) <= most


@pytest.mark.parametrize("blank", [" ", "\n\t", "\r\n", "\ufeff"])
async def test_blanks_before_json_do_not_carry_a_field_past_the_schema(
    store: Database, blank: str
) -> None:
    given = {"id": 7, "password": "hunter2"}
    server = Server(
        store,
        tool("get_t", READ, outputSchema=CUSTOMER),
        result(given, text=blank + json.dumps(given)),
    )
    assert "hunter2" not in json.dumps(await server.call())


async def test_a_structure_without_a_schema_is_cut_as_its_text_is(store: Database) -> None:
    rows = {"rows": [{"id": n} for n in range(1000)]}
    server = Server(store, tool("get_t", READ), result(rows))
    answer = await server.call(limit=500)
    assert json.loads(text(answer)) == answer["structuredContent"]
    assert 0 < len(answer["structuredContent"]["rows"]) < 1000
    assert answer["_meta"]["truncated"] is True


async def test_a_result_without_content_is_left(store: Database) -> None:
    server = Server(store, tool("get_t", READ), {"structuredContent": {"a": 1}})
    assert await server.call() == {"structuredContent": {"a": 1}}


@pytest.mark.parametrize(
    "error", [RpcError(-32000, "gone", fault=Fault.LOST), UnreachableError("gone", where="demo")]
)
async def test_a_read_is_tried_again_after_a_failure_of_transport(
    store: Database, error: Exception
) -> None:
    server = Server(store, tool("get_t", READ), error, error, result({"a": 1}))
    assert (await server.call())["structuredContent"] == {"a": 1}
    assert await server.log() == [("attempt", None)] * 3 + [("outcome", "ok")]


async def test_an_idempotent_write_is_tried_again_and_another_is_not(store: Database) -> None:
    lost = RpcError(-32000, "gone", fault=Fault.LOST)
    again = Server(store, tool("t", {**WRITE, "idempotentHint": True}), lost, result({"a": 1}))
    assert "isError" not in await again.call()
    once = Server(store, tool("t", WRITE), lost, result({"a": 1}))
    assert "may have run or not" in text(await once.call())
    assert once.calls == 1


async def test_a_tools_own_error_and_a_protocol_error_are_never_tried_again(
    store: Database,
) -> None:
    failed = Server(store, tool("get_t", READ), {"content": [], "isError": True}, result({}))
    assert (await failed.call())["isError"] is True
    assert failed.calls == 1
    refused = Server(store, tool("get_t", READ), RpcError(-32602, "no"), result({}))
    with pytest.raises(RpcError):
        await refused.call()
    assert refused.calls == 1


async def test_tries_are_bounded(store: Database) -> None:
    lost = [RpcError(-32000, "gone", fault=Fault.LOST) for _ in range(5)]
    server = Server(store, tool("get_t", READ), *lost)
    assert "may be made again" in text(await server.call(attempts=2))
    assert server.calls == 2
    single = Server(store, tool("get_t", READ), *lost)
    await single.call(attempts=1)
    assert single.calls == 1
