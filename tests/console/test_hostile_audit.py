"""Hostile texts on the pages made of one call, of a grant, of a filter, and of what if."""

import re
from urllib.parse import urlencode

import pytest
from tests.console.conftest import Bench, csrf_of
from tests.console.test_hostile import CORPUS, elements

from sayso.approvals import Answer
from sayso.intent import Span
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

_ALLOWED = frozenset(
    {
        *("html", "head", "meta", "title", "link", "script", "body", "header", "main", "nav"),
        *(
            "a",
            "div",
            "img",
            "kbd",
            "ul",
            "ol",
            "li",
            "span",
            "p",
            "h1",
            "h2",
            "h3",
            "section",
            "article",
        ),
        *("form", "input", "button", "label", "select", "option", "fieldset", "legend", "textarea"),
        *(
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "caption",
            "time",
            "pre",
            "code",
            "bdi",
            "b",
        ),
        *("small", "kbd", "details", "summary", "dl", "dt", "dd", "dialog", "mark", "noscript"),
    }
)


async def pages(bench: Bench, text: str) -> list[str]:
    """Every such page, with `text` wherever somebody else's text stands."""
    bench.shelf.raws[0] |= {"title": text, "description": text}
    arguments = {text: text, "nested": {text: [text]}, "long": text * 80}
    policy = load_policy('mode = "strict"')
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    await bench.call(arguments=arguments, client=text, subject=text)
    said = Answer(
        is_allowed=True,
        by="bo",
        channel="console",
        span=Span.SESSION,
        is_for_arguments=True,
        message=text,
    )
    assert await bench.gateway.guard.approvals.answer(1, said)
    await bench.call(arguments=arguments, client=text, subject=text)
    (row, *_) = await bench.store.records.newest(limit=1)
    form = {"tool": text, "arguments": text, "subject": text, "client": text, "roles": text}
    filtered = {"text": text, "server": text, "tool": text, "who": text, "client": text}
    async with bench.browser() as browser:
        shown = [
            (await browser.get(path)).text
            for path in (
                f"/console/audit/{row.call}?{urlencode(filtered, errors='replace')}",
                f"/console/audit/{row.call}/conversation",
                f"/console/audit/{row.call}/rule?client=1&subject=1&arguments=1",
                f"/console/audit/{row.call}/test",
                f"/console/audit?{urlencode(filtered, errors='replace')}",
                f"/console/audit?{urlencode({'level': text, 'since': text})}",
                "/console/grants",
                f"/console/policy?call={row.call}",
            )
        ]
        fields = form | {"csrf": csrf_of(await browser.get("/console/policy"))}
        shown.append((await browser.post("/console/policy/what-if", data=fields)).text)
        fields |= {"tool": "studio__customer_delete", "arguments": "{}"}
        shown.append((await browser.post("/console/policy/what-if", data=fields)).text)
    return shown


@pytest.mark.parametrize("text", CORPUS)
async def test_hostile_text_stays_text_on_the_pages_of_one_call(bench: Bench, text: str) -> None:
    for page in await pages(bench, text):
        found = elements(page)

        assert {tag for tag, *_ in found.shapes} <= _ALLOWED
        assert not any(name.startswith("on") for _, *names in found.shapes for name in names)
        for one in found.addresses:
            # What was typed into the filter stays in the addresses of this page, encoded.
            assert re.fullmatch(r"(/console/[\w./?=&#%+*-]*|#[\w-]+)", one), one
            assert "//" not in one
        assert not re.search("[\x00-\x08\x0b-\x1f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)
        assert not re.search(r"(?<![0-9a-f])1337(?![0-9a-f])", page)
        page.encode()
