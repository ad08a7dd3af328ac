"""What a tool's own text says about its hints, and what it must not be taken to say."""

from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import JSON, SAID, TOOLS

from avow.infer import guess, words
from avow.intent import DOUBT, HINT_NAMES, LOOSER, THRESHOLD, Guess, HintName

SURE, LIKELY, MAYBE = 0.99, 0.95, 0.8


class Says(NamedTuple):
    """What a name says of each hint, signed: +0.99 is surely true, -0.8 is maybe false."""

    read_only: float = 0
    destructive: float = 0
    idempotent: float = 0
    open_world: float = 0


NOTHING = Says()
READS = Says(read_only=SURE)
WRITES = Says(read_only=-SURE)
DESTROYS = Says(read_only=-SURE, destructive=SURE)
SENDS = Says(-SURE, SURE, -SURE, SURE)

NAMES = {
    # The verb counts where it stands, not the words beside it.
    "delete-list-item": DESTROYS,
    "delete-sharepoint-list-item": DESTROYS,
    "portfolio_watchlist_remove": DESTROYS,
    "set-my-status-message": WRITES._replace(idempotent=MAYBE),
    "delete_search_index": DESTROYS,
    "get_deleted_items": READS,
    # In front, at the end, and only maybe after a prefix.
    "list": READS,
    "list_files": READS,
    "customers_list": READS,
    "customers_delete": DESTROYS,
    "acme_list_files": Says(read_only=MAYBE),
    "acme_delete_file": Says(read_only=-LIKELY, destructive=LIKELY),
    "acme_files_delete_now": Says(read_only=-LIKELY, destructive=LIKELY),
    "get_and_delete_user": Says(read_only=-LIKELY, destructive=LIKELY),
    "list_then_purge_files": Says(read_only=-LIKELY, destructive=LIKELY),
    "get_delete_policy": Says(read_only=MAYBE),
    # However it is spelt.
    "listFiles": READS,
    "getUserById": READS,
    "ListHTMLPages": READS,
    "DELETE_ROW": DESTROYS,
    "memory.show": READS._replace(open_world=-MAYBE),
    "files/list": READS,
    "reset2": DESTROYS,
    # A substring is no word.
    "target_budget": NOTHING,
    "forget_me": NOTHING,
    "widget_settle": NOTHING,
    "updated_at": NOTHING,
    "listing": NOTHING,
    # A verb that reads, but not surely.
    "run_query": Says(read_only=MAYBE),
    "git_status": Says(read_only=MAYBE),
    "fetch_item": Says(read_only=MAYBE),
    "get_merge_request": Says(read_only=MAYBE),
    # One of two verbs says nothing for reading.
    "get_or_create_user": NOTHING,
    "find_and_replace": NOTHING,
    "create_access_list": WRITES,
    "atlas_create_access_list": NOTHING,
    "read_or_write": NOTHING,
    "file_read_or_write": WRITES,
    # The first word may be a noun where the last is surely a verb: then no more than both say,
    # and what is stricter.
    "book_get": NOTHING,
    "order_get": NOTHING,
    "post_list": NOTHING,
    "order_create": WRITES,
    "comment_add": WRITES,
    "book_update": WRITES,
    "status_update": WRITES,
    "order_delete": DESTROYS._replace(read_only=-0.9995, destructive=0.9995),
    "record_send": SENDS,
    "email_send": SENDS._replace(open_world=0.9995),
    "search_list": READS,
    "check_list": Says(read_only=MAYBE),
    "search_delete": DESTROYS,
    "order_item": SENDS,
    "book_flight": WRITES,
    "post_status": SENDS,
    # The kinds of writing.
    "create_user": WRITES,
    "update_config": Says(-SURE, 0, MAYBE, -MAYBE),
    "upsert_row": WRITES._replace(idempotent=MAYBE),
    "append_row": WRITES,
    "purge_queue": DESTROYS,
    "pay_invoice": SENDS,
    "invoice_send": SENDS,
    "send_email": SENDS._replace(open_world=0.9995),
    # How far it reaches.
    "session_info": Says(open_world=-MAYBE),
    "local_read": READS._replace(open_world=-MAYBE),
    "web_search": READS._replace(open_world=LIKELY),
    "browser_click": Says(open_world=LIKELY),
    "local_web_cache": Says(open_world=LIKELY),
    "cobweb": NOTHING,
    # Words that go both ways.
    "export": NOTHING,
    "process_items": NOTHING,
    "": NOTHING,
    "42": NOTHING,
    "查询": NOTHING,
}


def signed(found: dict[HintName, Guess]) -> Says:
    return Says(**{name: one.confidence * (1 if one.value else -1) for name, one in found.items()})


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_what_the_table_says_and_no_more(name: str) -> None:
    assert signed(guess({"name": name})) == NAMES[name]


@pytest.mark.parametrize(
    "name", ["get_or_create_user", "run_query", "fetch_item", "find_and_replace", "git_status"]
)
def test_a_name_that_may_write_is_not_surely_read(name: str) -> None:
    found = guess({"name": name}).get("read_only")

    assert found is None or found.confidence < THRESHOLD


@pytest.mark.parametrize(
    "name", ["get_or_create_user", "find_and_replace", "atlas_create_access_list"]
)
@pytest.mark.parametrize("text", ["Does not modify what exists.", "Read-only when it can be."])
def test_no_description_makes_one_of_two_verbs_surely_read(name: str, text: str) -> None:
    found = guess({"name": name, "description": text})["read_only"]

    assert found.confidence < THRESHOLD


def test_a_verb_that_destroys_or_sends_is_sure_enough_to_speak_against_a_declaration() -> None:
    for verb in words.DESTROY | words.SEND:
        found = guess({"name": f"{verb}_thing"})
        assert found["read_only"].value is False
        assert found["destructive"].value is True
        assert found["read_only"].confidence >= DOUBT
        assert found["destructive"].confidence >= DOUBT


@pytest.mark.parametrize("verb", sorted(words.READ))
def test_only_the_surest_verbs_make_a_tool_read_only_by_themselves(verb: str) -> None:
    found = guess({"name": f"{verb}_thing"})["read_only"]

    assert found.value is True
    assert (found.confidence >= THRESHOLD) is (verb in words.SURELY_READ)


@pytest.mark.parametrize(
    ("name", "hint", "reasons"),
    [
        ("delete_file", "destructive", ("the name starts with the verb “delete”",)),
        ("file_delete", "read_only", ("the name ends with the verb “delete”",)),
        ("acme_delete_file", "read_only", ("the name goes on with the verb “delete”",)),
        ("set_config", "idempotent", ("the name starts with the verb “set”",)),
        ("web_thing", "open_world", ("the name says “web”",)),
        ("local_thing", "open_world", ("the name says “local”",)),
        (
            "send_email",
            "open_world",
            ("the name says “email”", "the name starts with the verb “send”"),
        ),
    ],
)
def test_reasons_are_given_in_words(name: str, hint: HintName, reasons: tuple[str, ...]) -> None:
    assert guess({"name": name})[hint].reasons == reasons


# --- descriptions


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("This cannot be undone.", "cannot be undone"),
        ("It can't be reversed", "can't be reversed"),
        ("It can’t be restored", "can’t be restored"),
        ("Can not be recovered!", "Can not be recovered"),
        ("An irreversible step.", "irreversible"),
        ("Irreversibly merges both.", "Irreversibly"),
        ("Permanently deletes it.", "Permanently deletes"),
        ("Will permanently erase all.", "permanently erase"),
    ],
)
def test_a_description_that_warns_says_that_the_tool_destroys(text: str, cue: str) -> None:
    reasons = (f"the description says “{cue}”",)

    assert guess({"description": text}) == {
        "destructive": Guess(value=True, confidence=LIKELY, reasons=reasons),
        "read_only": Guess(value=False, confidence=LIKELY, reasons=reasons),
    }


@pytest.mark.parametrize(
    ("text", "hint", "cue"),
    [
        ("A read-only view.", "read_only", "read-only"),
        ("READ ONLY.", "read_only", "READ ONLY"),
        ("It does not modify anything", "read_only", "does not modify"),
        ("It doesn't change anything", "read_only", "doesn't change"),
        ("It doesn’t write", "read_only", "doesn’t write"),
        ("This is idempotent.", "idempotent", "idempotent"),
    ],
)
def test_a_description_may_say_something_plainly(text: str, hint: HintName, cue: str) -> None:
    reasons = (f"the description says “{cue}”",)

    assert guess({"description": text}) == {
        hint: Guess(value=True, confidence=LIKELY, reasons=reasons)
    }


@pytest.mark.parametrize(
    "text",
    [
        "This is not read-only.",
        "This isn't read-only.",
        "This isn’t read-only.",
        "It is not a read-only tool.",
        "It is not strictly idempotent",
        "Not necessarily idempotent",
        "A non-idempotent call",
        "This is NOT  idempotent",
        "never irreversible",
        "It is not irreversible.",
        "Does not permanently delete anything",
        "Spread-only, already onlyness, idempotentish",
        "The breadth cannot be undoneness",
        "Counts threads",
        "",
    ],
)
def test_a_negated_cue_and_a_part_of_a_word_say_nothing(text: str) -> None:
    assert guess({"description": text}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Idempotent with a key, not idempotent without.",
        "Not idempotent without a key, else idempotent.",
    ],
)
def test_a_text_that_contradicts_itself_does_not_speak_for_the_looser_value(text: str) -> None:
    assert guess({"description": text}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Moving is not irreversible, but emptying cannot be undone.",
        "Emptying cannot be undone, but moving is not irreversible.",
    ],
)
def test_a_text_that_contradicts_itself_still_warns(text: str) -> None:
    found = guess({"description": text})

    assert found["destructive"].value is True
    assert found["destructive"].reasons == ("the description says “cannot be undone”",)


# --- name and description together


def test_cues_that_agree_make_each_other_surer() -> None:
    found = guess({"name": "fetch_item", "description": "Does not modify anything."})

    assert found == {
        "read_only": Guess(
            value=True,
            confidence=0.99,
            reasons=(
                "the description says “Does not modify”",
                "the name starts with the verb “fetch”",
            ),
        )
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("get_item", "Reads the item once. This cannot be undone."),
        ("delete_item", "Does not modify other items."),
    ],
)
def test_of_cues_that_disagree_the_stricter_stays(name: str, text: str) -> None:
    found = guess({"name": name, "description": text})["read_only"]

    assert found.value is False
    assert found.confidence < SURE + 0.001
    assert len(found.reasons) == 1


def test_the_title_and_the_schema_of_a_tool_named_without_a_verb_say_nothing() -> None:
    assert guess({"name": "thing", "title": "Delete", "inputSchema": {"delete": True}}) == {}


# --- anything at all


@pytest.mark.parametrize("key", ["name", "description"])
@pytest.mark.parametrize(
    "value", [None, 5, True, 1.5, ["delete", "cannot be undone"], {"delete": "read-only"}, []]
)
def test_what_is_no_text_says_nothing(key: str, value: object) -> None:
    assert guess({key: value}) == {}
    assert guess({}) == {}


SENTENCES = st.sampled_from(
    ["Read-only.", "Not read-only.", "Idempotent.", "Cannot be undone.", "not a ", "never"]
)
SPOKEN = sorted(words.READ | words.WRITE | words.OPEN | words.CLOSED | {"or", "item"})
SPOKEN_NAMES = st.lists(st.sampled_from(SPOKEN), max_size=4).map("_".join)
SPOKEN_TOOLS = st.fixed_dictionaries(
    {"name": SPOKEN_NAMES | SAID | JSON},
    optional={"description": st.lists(SENTENCES, max_size=4).map(" ".join) | JSON},
)


@given(TOOLS | SPOKEN_TOOLS)
def test_guessing_never_raises_is_repeatable_and_changes_nothing(tool: dict[str, Any]) -> None:
    before = deepcopy(tool)
    found = guess(tool)

    assert guess(tool) == found
    assert tool == before
    for name, one in found.items():
        assert name in HINT_NAMES
        assert 0 < one.confidence <= 1
        assert one.reasons
        assert all(reason.startswith(("the name ", "the description ")) for reason in one.reasons)


@given(SPOKEN_NAMES, st.sampled_from(sorted(words.DESTROY)))
def test_a_verb_that_destroys_in_front_is_never_outweighed(rest: str, verb: str) -> None:
    tool = {"name": f"{verb}_{rest}", "description": "Read-only. Does not modify anything."}
    found = guess(tool)

    assert found["read_only"].value is not LOOSER["read_only"]
    assert found["destructive"].value is not LOOSER["destructive"]
    assert found["read_only"].confidence >= DOUBT
