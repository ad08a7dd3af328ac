"""Titles for tools that have none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.catalog import derive_title

TITLES = {
    # The verb comes first.
    "customer_delete": "Delete customer",
    "customers_list": "List customers",
    "memory.show": "Show memory",
    "invoice-draft-create": "Create invoice draft",
    "customerDelete": "Delete customer",
    # Where it stands first already, nothing moves.
    "delete_customer": "Delete customer",
    "get_deleted": "Get deleted",
    "list_update": "List update",
    # As often a noun: the words before it may describe it.
    "git_status": "Git status",
    "web_search": "Web search",
    "purchase_order": "Purchase order",
    "health_check": "Health check",
    "issue_comment": "Issue comment",
    "audit_record": "Audit record",
    "page_preview": "Page preview",
    "cash_register": "Cash register",
    "slow_query": "Slow query",
    "work_email": "Work email",
    "file_stat": "File stat",
    # A noun in front of a verb is what the verb is about.
    "order_cancel": "Cancel order",
    "email_send": "Send email",
    "search_index_delete": "Delete search index",
    "books_archive": "Archive books",
    "passwords_reset": "Reset passwords",
    "web_archive": "Web archive",
    "press_archive": "Press archive",
    "index_rebuild": "Rebuild index",
    "report_export": "Export report",
    # A phrase keeps its order, and so does a program's command.
    "search_and_replace": "Search and replace",
    "page_to_update": "Page to update",
    "git_add": "Git add",
    "git_show": "Git show",
    "helm_uninstall": "Helm uninstall",
    # Words are found however they are spelt.
    "getUserById": "Get user by id",
    "getHTTPStatus": "Get HTTP status",
    "HTTPServerRestart": "HTTP server restart",
    "get_s3_object": "Get s3 object",
    "oauth2_revoke": "Revoke oauth2",
    "sha256File": "Sha256 file",
    "S3Delete": "Delete S3",
    "files/list": "List files",
    "page_404_delete": "Delete page 404",
    "getPlanB": "Get plan b",
    "show": "Show",
    "a": "A",
    # What holds no words, or words of another script, is its own title.
    "___": "___",
    "查询": "查询",
    "café_list": "café_list",
}


@pytest.mark.parametrize("name", TITLES)
def test_a_title_is_made_of_the_words_of_the_name(name: str) -> None:
    assert derive_title(name) == TITLES[name]


@pytest.mark.parametrize(
    "joint", ["and", "by", "for", "from", "in", "of", "on", "or", "to", "with"]
)
def test_a_joint_in_a_name_makes_it_a_phrase(joint: str) -> None:
    assert derive_title(f"page_{joint}_update") == f"Page {joint} update"


@pytest.mark.parametrize("program", ["docker", "git", "helm", "kubectl", "npm", "pip"])
def test_a_programs_command_keeps_its_order(program: str) -> None:
    assert derive_title(f"{program}_remove") == f"{program.capitalize()} remove"


@given(st.text(min_size=1))
def test_every_name_has_a_title(name: str) -> None:
    assert derive_title(name) != ""


@given(st.from_regex(r"[a-z]+(_[a-z]+)*", fullmatch=True))
def test_a_title_neither_adds_a_word_nor_loses_one(name: str) -> None:
    assert sorted(derive_title(name).lower().split()) == sorted(name.split("_"))
