import pytest
from mcp import Client

from sayso.demo.corpus import ARTICLES
from sayso.demo.web import web_search

pytestmark = pytest.mark.anyio


def test_the_corpus_is_plain_and_leads_nowhere() -> None:
    assert len(ARTICLES) == 11
    assert len({one.url for one in ARTICLES}) == 11
    assert all(".example/" in one.url for one in ARTICLES)


async def test_a_search_ranks_what_it_finds(client: Client) -> None:
    answer = await client.call_tool("web_search", {"query": "late payment"})

    assert answer.structured_content is not None
    best = answer.structured_content["results"][0]
    assert best == {
        "rank": 1,
        "title": "Late payment: three letters and a phone call",
        "url": "https://studio-desk.example/invoices/late-payment",
        "snippet": "Most late payment is forgetfulness, so the first reminder should be friendly.",
    }
    assert answer.structured_content["simulated"] is True


def test_a_search_finds_no_more_than_is_wanted() -> None:
    found = web_search("the", limit=3)["results"]

    assert [one["rank"] for one in found] == [1, 2, 3]


def test_a_word_in_the_title_alone_is_found() -> None:
    found = web_search("licences")["results"]

    assert found[0]["title"] == "Font licences in plain words"
    assert found[0]["snippet"].startswith("A font is software")


def test_a_search_for_nothing_known_finds_nothing() -> None:
    assert web_search("xylophone")["results"] == []
