"""Hints inferred from a tool's own text, and ones that must not be."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import JSON, SAID, TOOLS

from sayso.infer import VERBS, chances, guess
from sayso.infer.lexicon import KINDS
from sayso.infer.model import model
from sayso.intent import DOUBT, HINT_NAMES, LOOSER, Guess, HintName

DESTROYERS = sorted(verb for verb, kinds in KINDS.items() if kinds == ("destroy",))


def values(tool: dict[str, Any]) -> dict[HintName, bool]:
    return {name: one.value for name, one in guess(tool).items()}


def tool(name: str, description: str = "", /, **parameters: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return {"name": name, "description": description, "inputSchema": schema}


TEXT = {"type": "string"}
READS = {"read_only": True, "open_world": False}


@pytest.mark.parametrize(
    "one",
    [
        tool("list_files", "List the files of a folder.", folder=TEXT),
        tool("customers_list", "Lists all customers."),
        tool("getUserById", "Returns a user.", id=TEXT),
        tool("acme_get_invoice", "Get an invoice by its id.", invoice_id=TEXT),
        tool("get_deleted_items", "Lists what was deleted.", limit={"type": "integer"}),
        tool("memory.show", "Shows what is remembered."),
        tool("get_merge_request", "Get a merge request.", id=TEXT),
        tool("list_merge_requests", "List merge requests.", page=TEXT),
        tool("git_log", "Shows the commit log."),
        tool("query_orders", "Runs a read-only SQL query (SELECT only).", sql=TEXT),
    ],
    ids=lambda one: one["name"],
)
def test_what_only_reads_is_told(one: dict[str, Any]) -> None:
    assert values(one) == READS


@pytest.mark.parametrize(
    "one",
    [
        tool("delete-sharepoint-list-item", "Deletes an item of a list.", id=TEXT),
        tool("portfolio_watchlist_remove", "Removes a share from a watchlist.", id=TEXT),
        tool("customer_delete", "Delete a customer. This cannot be undone.", id=TEXT),
        tool("DELETE_ROW", "Deletes a row.", id=TEXT),
        tool("purge_queue", "Purges the queue."),
    ],
    ids=lambda one: one["name"],
)
def test_what_destroys_is_told_surely_enough_to_speak_against_a_declaration(
    one: dict[str, Any],
) -> None:
    found = guess(one)

    assert found["read_only"].value is False
    assert found["read_only"].confidence >= DOUBT
    assert found["destructive"].value is True
    assert found["destructive"].confidence >= DOUBT


@pytest.mark.parametrize(
    "one",
    [
        tool("set-my-status-message", "Sets your status message.", message=TEXT),
        tool("create_user", "Create a new user.", name=TEXT),
        tool("send_email", "Sends an email to a customer.", to=TEXT, subject=TEXT, body=TEXT),
        tool("run_command", "Runs a shell command.", command=TEXT),
        tool("update_document", "Replaces the whole document.", id=TEXT, body=TEXT),
    ],
    ids=lambda one: one["name"],
)
def test_what_writes_is_never_called_read_only(one: dict[str, Any]) -> None:
    assert values(one).get("read_only") is False


def test_kinds_of_writing_are_told_apart() -> None:
    added = guess(tool("add_comment", "Add a comment to an issue.", issue_id=TEXT, body=TEXT))
    sent = guess(tool("send_email", "Send an email to a customer.", to=TEXT, body=TEXT))
    moved = guess(tool("update_title", "Changes the title of a note.", id=TEXT, title=TEXT))

    assert added["destructive"].value is False
    assert added["idempotent"].value is False
    assert sent["destructive"].value is True
    assert sent["idempotent"].value is False
    assert "open_world" not in sent or sent["open_world"].value is True
    assert moved["idempotent"].value is True


# --- what no text can talk a tool into


@pytest.mark.parametrize("name", ["get_or_create_user", "find_and_replace", "list_then_purge"])
def test_no_description_makes_one_of_two_verbs_read_only(name: str) -> None:
    for text in ("Does not modify anything.", "Read-only. Returns a list. Never writes."):
        assert guess(tool(name, text)).get("read_only", Guess(False, 1)).value is False  # noqa: FBT003 - a hint's value


@pytest.mark.parametrize("verb", DESTROYERS)
def test_no_description_makes_a_verb_that_destroys_harmless(verb: str) -> None:
    found = guess(tool(f"{verb}_thing", "Read-only. Lists things. Does not modify anything."))

    assert found["read_only"].value is False
    assert found["read_only"].confidence >= DOUBT
    assert found["destructive"].value is True
    assert found["destructive"].confidence >= DOUBT


@pytest.mark.parametrize(
    "one",
    [
        tool("query_data", "Gets rows of the database.", sql=TEXT),
        tool("get_result", "Gets the result of a command.", command=TEXT),
        tool("find_rows", "Find rows.", query={"type": "string", "description": "the SQL"}),
    ],
    ids=lambda one: one["name"],
)
def test_what_runs_anything_is_not_called_read_only_nor_harmless(one: dict[str, Any]) -> None:
    found = values(one)

    assert found.get("read_only") is not True
    assert found.get("destructive") is not False


def test_an_action_that_destroys_counts_for_the_whole_tool() -> None:
    action = {"type": "string", "enum": ["get", "list", "delete"]}
    state = {"type": "string", "enum": ["open", "closed", "deleted"]}

    assert values(tool("get_notes", "Get notes.", action=action)).get("read_only") is not True
    assert values(tool("get_notes", "Get notes.", state=state))["read_only"] is True


def test_a_file_that_is_saved_is_a_write() -> None:
    path = {"type": "string", "description": "File name to save the result to"}

    assert values(tool("get_page", "Get a page.", id=TEXT))["read_only"] is True
    assert values(tool("get_page", "Get a page.", filename=path)).get("read_only") is not True


@pytest.mark.parametrize("name", ["web_search", "fetch_url", "crawl_site", "send_sms"])
def test_what_speaks_of_the_web_is_not_called_closed(name: str) -> None:
    assert values({"name": name}).get("open_world") is not False


def test_a_denied_word_does_not_count() -> None:
    plain, denied = (
        guess(tool("check_thing", f"This is {word}read-only.")) for word in ("", "not ")
    )

    assert plain["read_only"].value is True
    assert (
        "read_only" not in denied or denied["read_only"].confidence < plain["read_only"].confidence
    )


def test_a_sentence_about_another_tool_does_not_count() -> None:
    text = "Get a note."
    other = f"{text} To remove one, use `delete_note` instead."

    assert guess(tool("get_note", text, id=TEXT))["read_only"].value is True
    assert guess(tool("get_note", other, id=TEXT))["read_only"].value is True


# --- reasons


def test_reasons_are_given_in_words() -> None:
    found = guess(tool("file_delete", "Deletes a file for ever.", path=TEXT))

    assert set(found["destructive"].reasons[:2]) == {
        "the name ends with the verb “delete”",
        "the description begins with “deletes”",
    }


@pytest.mark.parametrize(
    ("one", "hint", "reason"),
    [
        (tool("drop", "Ends it. This cannot be undone."), "destructive", "says “cannot be undone”"),
        (tool("see_all", "A read-only view."), "read_only", "says “read-only”"),
        (tool("delete_old", "", dry_run={"type": "boolean"}), "read_only", "verb “delete”"),
    ],
    ids=["wipe", "see", "delete"],
)
def test_a_reason_quotes_what_it_is_about(one: dict[str, Any], hint: HintName, reason: str) -> None:
    assert any(reason in said for said in guess(one)[hint].reasons)


def test_a_name_of_a_parameter_cannot_steer_a_terminal() -> None:
    odd = "\u202eid\x1b[2J" + "x" * 100
    for one in guess(tool("delete_thing", "Delete a thing.", **{odd: TEXT})).values():
        for reason in one.reasons:
            assert reason.isprintable()
            assert len(reason) < 200


def test_below_the_operators_threshold_nothing_is_claimed() -> None:
    one = tool("customers_list", "Lists all customers.")

    assert guess(one, threshold=0.5).keys() >= guess(one, threshold=0.9).keys()
    assert guess(one, threshold=1.0) == {}


def test_each_claim_is_as_sure_as_its_hint_wants() -> None:
    least = model().claims
    for name in ("list_files", "delete_file", "create_note", "send_mail", "set_title"):
        for hint, one in guess(tool(name, f"{name}.")).items():
            assert one.confidence >= least[hint][one.value]


def test_a_tool_that_says_nothing_is_claimed_to_be_nothing_looser() -> None:
    for one in ({}, {"name": ""}, {"name": "42"}, {"name": "查询"}, {"description": "..."}):
        for hint, said in guess(one).items():
            assert said.value is not LOOSER[hint], one


# --- anything at all


@pytest.mark.parametrize("key", ["name", "title", "description", "inputSchema"])
@pytest.mark.parametrize(
    "value", [None, 5, True, 1.5, ["delete", "cannot be undone"], {"delete": "read-only"}, []]
)
def test_what_is_of_another_type_says_nothing(key: str, value: object) -> None:
    assert guess({key: value}) == guess({})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": []},
        {"properties": {"x": None, "y": [], "z": {"enum": 4, "type": 5, "description": []}}},
        {"properties": {"": {}, "x" * 10_000: {"enum": [None, 1, {}, "delete" * 1000]}}},
        {"required": [1, None, {}], "properties": {}},
        {"properties": {f"p{n}": {} for n in range(5_000)}, "required": "all"},
    ],
)
def test_a_schema_of_any_form_is_taken(schema: dict[str, Any]) -> None:
    guess({"name": "get_note", "inputSchema": schema})


def test_a_description_of_a_megabyte_is_not_read_to_its_end_and_claims_nothing_looser() -> None:
    long = guess(tool("get_note", "Get a note. " + "And so on. " * 100_000))

    assert not any(said.value is LOOSER[hint] for hint, said in long.items())


WORDS = st.lists(st.sampled_from([*sorted(KINDS), "or", "and", "item", "web"]), max_size=4)
NAMES = WORDS.map("_".join)
SENTENCES = st.sampled_from(
    ["Read-only.", "Not read-only.", "Idempotent.", "Cannot be undone.", "not a ", "never"]
)
SPOKEN = st.fixed_dictionaries(
    {"name": NAMES | SAID | JSON},
    optional={"description": st.lists(SENTENCES, max_size=4).map(" ".join) | JSON},
)


@given(TOOLS | SPOKEN)
def test_guessing_never_raises_is_repeatable_and_changes_nothing(one: dict[str, Any]) -> None:
    before = deepcopy(one)
    found = guess(one)

    assert guess(one) == found
    assert one == before
    for name, said in found.items():
        assert name in HINT_NAMES
        assert 0.5 <= said.confidence <= 1
        assert said.reasons


def test_names_and_values_with_any_signs_in_them_are_taken() -> None:
    odd = {"type": "string", "enum": ["delete\0x", "\0", "", "delete"], "description": "to save \0"}

    assert values(tool("get_note", "Get a note.", **{"action\0": odd})).get("read_only") is not True


@given(NAMES, st.sampled_from(DESTROYERS))
def test_a_verb_that_destroys_in_front_is_never_outweighed(rest: str, verb: str) -> None:
    found = guess(tool(f"{verb}_{rest}", "Read-only. Does not modify anything."))

    assert found["read_only"].value is False
    assert found["destructive"].value is True


def test_a_verb_for_titles_is_one_lower_case_word() -> None:
    assert VERBS
    assert all(one.isascii() and one.isalpha() and one.islower() for one in VERBS)


@given(TOOLS)
def test_the_first_look_is_as_sure_of_a_hint_as_the_guess(one: dict[str, Any]) -> None:
    said = chances(one)
    assert list(said) == list(HINT_NAMES)
    for name, found in guess(one).items():
        chance = said[name] if found.value else 1 - said[name]
        assert abs(chance - found.confidence) <= 1e-4
