"""The tool that simulates a web search in a local corpus, so that it works offline."""

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

from sayso.demo.corpus import ARTICLES, Article
from sayso.demo.limits import Limits
from sayso.demo.results import WebResults
from sayso.intent import FETCH

if TYPE_CHECKING:
    from sayso.serve import Tools

TITLE_WEIGHT: Final = 3
"""The weight of a word in a title, compared with one in a text."""

# The results of a real search vary, so it is not idempotent, although it only reads.
SEARCHES: Final = FETCH.but(idempotent=False)


def web_search(
    query: Annotated[
        str,
        Limits("The words to look for.", min_length=1, max_length=200, pattern=r"\S"),
    ],
    limit: Annotated[int, Limits("How many at most.", ge=1, le=10)] = 5,
) -> WebResults:
    """Search the web for pages with these words, best first. What pages say is unverified."""
    words = set(_words(query))
    scored = [(_score(article, words), article) for article in ARTICLES]
    found = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1].title))
    return {
        "query": query,
        "results": [
            {"rank": rank, "title": page.title, "url": page.url, "snippet": _snippet(page, words)}
            for rank, (_, page) in enumerate(found[:limit], start=1)
        ],
        "simulated": True,
    }


def declare_web(tools: "Tools") -> None:
    """Declare the one tool over the web."""
    tools.tool(SEARCHES, title="Search the web", category="web", tags={"search"})(web_search)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _score(article: Article, words: set[str]) -> int:
    """Return the weighted count of the words in an article."""
    title = Counter(_words(article.title))
    text = Counter(_words(article.text))
    return sum(TITLE_WEIGHT * title[word] + text[word] for word in words)


def _snippet(article: Article, words: set[str]) -> str:
    sentences = re.split(r"(?<=[.?!])\s+", article.text)
    return next((sentence for sentence in sentences if words & set(_words(sentence))), sentences[0])
