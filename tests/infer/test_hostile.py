"""Tools that write and whose texts look like those of tools that read."""

from typing import Any

import pytest
from tests.infer.hostile import FIFTH, FOURTH, HELD_OUT, SECOND, THIRD, TUNED

from sayso.infer import chances, guess
from sayso.infer.certain import certainty
from sayso.infer.clauses import reading
from sayso.intent import DOUBT, LOOSER, Evidence, Hints, Level, Trust, resolve

HOSTILE = [*TUNED, *HELD_OUT, *SECOND, *THIRD, *FOURTH]
NUMBERS = [str(at) for at in range(len(HOSTILE))]


def described(name: str, description: str, *parameters: str) -> dict[str, Any]:
    properties = {one: {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"name": name, "description": description, "inputSchema": schema}


@pytest.mark.parametrize("tool", HOSTILE, ids=NUMBERS)
def test_a_clause_that_is_not_certainly_a_read_blocks_read_only(tool: dict[str, Any]) -> None:
    found = guess(tool)

    assert "read_only" not in found or found["read_only"].value is False
    assert resolve(Evidence(inferred=found)).level is not Level.READ


@pytest.mark.parametrize("tool", FIFTH, ids=[tool["name"] for tool in FIFTH])
def test_a_sentence_in_which_a_thing_does_something_makes_a_read_uncertain(
    tool: dict[str, Any],
) -> None:
    assert "read_only" not in guess(tool, threshold=0.98)
    assert resolve(Evidence(inferred=guess(tool))).level is not Level.READ


@pytest.mark.parametrize("tool", HOSTILE, ids=NUMBERS)
def test_what_asks_for_chances_alone_sees_no_surer_read(tool: dict[str, Any]) -> None:
    found = guess(tool, threshold=0.98)

    assert "read_only" not in found or found["read_only"].value is False
    assert 0.0 <= chances(tool)["read_only"] <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Показать очередь.",
        "显示队列。",
        "Muestra la cola de mensajes pendientes.",
        "Show the qu\u0435ue.",
        "Show the queue.\u200b",
        "Sh0w the queue.",
        "\u202eShow the queue.",
    ],
)
def test_text_that_the_lexicon_cannot_read_loosens_no_hint(text: str) -> None:
    for name in ("show_queue", "set_title", "add_note"):
        for hint, said in guess(described(name, text, "id")).items():
            assert said.value is not LOOSER[hint], (name, hint)


@pytest.mark.parametrize(
    "text",
    [
        "Compare and overwrite.",
        "Compares two files and overwrites the older one.",
        "Show the queue, then purge it.",
        "Look up the voucher, then void it.",
        "Read the mail and delete it.",
        "Deletes the queue.",
        "Compare the files and save the newer one.",
        "Read the mail and send it.",
        "Show the queue and import it.",
        "Show the queue.\n1. Finds lines\n2. Deletes lines",
    ],
)
def test_a_declaration_that_contradicts_its_own_text_is_not_believed_under_cautious(
    text: str,
) -> None:
    said = Hints(read_only=True, destructive=False)
    found = guess(described("compare_files", text, "left", "right"))

    cautious = resolve(Evidence(declared=said, inferred=found), Trust.CAUTIOUS)
    trusted = resolve(Evidence(declared=said, inferred=found), Trust.TRUSTED)

    assert found["read_only"].confidence >= DOUBT
    assert cautious.level is Level.DESTRUCTIVE
    assert trusted.level is Level.READ


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("put", "Put an item on the shelf."),
        ("save_memory", "Save a memory about the user."),
        ("close_issue", "Close an issue."),
        ("post_message", "Post a message to a channel."),
    ],
)
def test_a_text_that_only_says_that_a_tool_writes_does_not_contradict_that_it_is_additive(
    name: str, text: str
) -> None:
    found = guess(described(name, text, "item"))

    additive = Evidence(declared=Hints(read_only=False, destructive=False), inferred=found)
    reading = Evidence(declared=Hints(read_only=True, destructive=False), inferred=found)

    assert resolve(additive, Trust.CAUTIOUS).level is Level.WRITE
    assert resolve(reading, Trust.CAUTIOUS).level is Level.DESTRUCTIVE


@pytest.mark.parametrize("text", ["Overwrite the item.", "Purge the items.", "Replace the list."])
def test_a_text_that_says_that_a_tool_loses_something_contradicts_that_it_is_additive(
    text: str,
) -> None:
    found = guess(described("handle_items", text, "item"))

    additive = Evidence(declared=Hints(read_only=False, destructive=False), inferred=found)

    assert resolve(additive, Trust.CAUTIOUS).level is Level.DESTRUCTIVE


@pytest.mark.parametrize(
    "text",
    [
        "Get the deleted notes.",
        "Returns notes, comments and attachments.",
        "List the users and groups of a workspace. Does not create, change or delete anything.",
        "Get one note by its id. To remove one, use `delete_note` instead.",
        "Search the notes. Returns the title, the author, and the date of each.",
        "Use this to find out the author of a note. Supports pagination.",
        "Check whether a note is archived.",
    ],
)
def test_what_certainly_reads_is_still_called_a_read(text: str) -> None:
    found = guess(described("get_note", text, "note_id"))

    assert found["read_only"].value is True
    assert found["read_only"].confidence >= 0.98


@pytest.mark.parametrize(
    "text",
    [
        "List the labels of a merge request note. Each service account has its own.",
        "Get the plan. Access is denied to users without a role. Filters are applied in order.",
        "List the roles that can be delegated, and the types that can be used.",
        "Runs a read-only query. Performs a semantic search.",
        "Get a note.\n\nArgs:\n    note: The note.\n\nReturns:\n    The text.",
        "Get the queries of VictoriaLogs or GitLab, for instance group=checkout.",
        "Get the resource changes (create, update, delete) of a plan.",
        "Get the zone of a user. The users can configure a time zone there.",
        "\N{BAR CHART} Get a note.\n\N{ELECTRIC LIGHT BULB} Tip: use it with an id.",
    ],
)
def test_nouns_names_and_sentences_about_results_do_not_make_a_read_doubtful(text: str) -> None:
    found = guess(described("get_note", text, "note_id"))

    assert found["read_only"].value is True
    assert found["read_only"].confidence >= 0.98


@pytest.mark.parametrize(
    "text",
    [
        "Get the note, \N{WASTEBASKET} it.",
        "Get the note.\n\N{WASTEBASKET} it.",
        "Performs a lookup and a purge of the rest.",
        "List the notes and Void them.",
        "Get the note. The service account voids the note.",
    ],
)
def test_what_excuses_a_noun_excuses_no_verb(text: str) -> None:
    found = guess(described("get_note", text, "note_id"))

    assert "read_only" not in found or found["read_only"].value is False


def test_a_switch_that_writes_makes_a_writer() -> None:
    schema = {"type": "object", "properties": {"purge": {"type": "boolean"}}}
    tool = {"name": "list_notes", "description": "List the notes.", "inputSchema": schema}

    assert "read_only" not in guess(tool) or guess(tool)["read_only"].value is False


@pytest.mark.parametrize(
    "tool",
    [
        described("get_weather", "Get the current weather of a city.", "city"),
        described("get_stock_price", "Returns the latest price.", "symbol"),
        described("get_exchange_rate", "Get the exchange rate.", "base"),
        described("latest_news", "Get the latest news.", "topic"),
        described("find_flights", "Find flights.", "origin", "destination"),
        described("lookup_word", "Look up a word.", "word"),
    ],
    ids=lambda one: one["name"],
)
def test_a_tool_that_fetches_what_its_server_does_not_hold_stays_open(
    tool: dict[str, Any],
) -> None:
    assert "open_world" not in guess(tool) or guess(tool)["open_world"].value is True


def test_a_tool_that_finds_what_its_server_holds_is_closed() -> None:
    found = guess(described("find_policies", "Find the policies.", "limit"))

    assert found["open_world"].value is False


def test_what_is_doubted_is_named() -> None:
    assert reading("Show the queue and purge what is stale.").writes == ("purge",)
    assert reading("Look up the voucher, then void it.").unsure == "void"
    assert reading("Compare and overwrite.").orders == ("overwrite",)
    assert reading("This is not a read.").denies
    assert reading("List the notes of a project.").is_certain


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Count what was kept.", {}),
        ("Search logs. No match? Kept lines are shown.", {}),
        ("Show when the removal took place.", {}),
        ("", {"outputSchema": {"properties": {"count": {}, "deleted_at": {}}}}),
        ("", {"outputSchema": {"properties": {"rows_removed": {}}}}),
        ("", {"outputSchema": {"properties": {"total_number": {"items": True}}}}),
        ("", {"inputSchema": {"properties": {"of": {"enum": ["deleted", 3, "find"]}}}}),
        ("", {"inputSchema": {"properties": [], "anyOf": [{}, None, 7]}}),
    ],
)
def test_what_keeps_counts_or_tells_of_others_deletions_is_no_write(
    text: str, more: dict[str, Any]
) -> None:
    found = certainty({"name": "search_logs", "description": text or "Search logs.", **more})
    assert found.may_read


@pytest.mark.parametrize(
    "more",
    [
        {"title": "Deleted items"},
        {"inputSchema": {"properties": {"of": {"description": "Never shreds anything."}}}},
        {"inputSchema": {"properties": {"of": {"description": "What users may scrap."}}}},
        {"inputSchema": {"properties": {"of": {"examples": [{"at": [3, "noon"]}, "all notes"]}}}},
        {"outputSchema": {"properties": {"deleted_at": {"type": "string"}}}},
        {"outputSchema": {"properties": {"at": {"description": "When the user was removed."}}}},
        {"outputSchema": {"properties": {"state": {"description": "Whether it was read."}}}},
        {"outputSchema": {"properties": {f"p{at}": {} for at in range(1001)}}},
    ],
)
def test_what_tells_of_values_or_of_others_is_no_write(more: dict[str, Any]) -> None:
    assert certainty({"name": "search_logs", "description": "Search logs.", **more}).may_read


@pytest.mark.parametrize(
    "schema",
    [
        {"examples": [list(range(5001))]},
        {"default": {"purge": True}},
        {"x-of-each": {"first": ["Shows it", {"then": "Shreds it afterwards."}]}},
        {"contains": {"description": "Deletes the line."}},
        {"type": "boolean", "description": "Overwrites the line."},
    ],
)
def test_a_keyword_that_nobody_knows_and_a_value_are_read_too(schema: dict[str, Any]) -> None:
    tool = {"name": "search_logs", "description": "Search logs."}

    found = certainty({**tool, "inputSchema": {"properties": {"of": schema}}})

    assert not found.may_read
