"""Words of messages and tools: stems, terms, cues, needs."""

import pytest

from sayso.catalog.select import terms as module
from sayso.catalog.select.needs import MARK, read_cues, read_needs
from sayso.catalog.select.terms import stem, terms


@pytest.mark.parametrize(
    "forms",
    [
        "create creates created creating creation",
        "delete deletes deleted deleting deletion",
        "translate translation translator translating",
        "analysis analyses analyze analyse analyzing",
        "query queries querying",
        "search searches searched",
        "address addresses",
        "box boxes",
        "stop stopped stopping",
        "install installs installing",
        "organize organise organizing",
        "deploy deployment deployments",
        "calculate calculator calculation",
        "configure configuration",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    ["custom customer", "comment common", "station state", "document dock", "home hom"],
)
def test_words_that_only_look_alike_keep_apart(words: str) -> None:
    one, other = words.split()

    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["gas", "v2", "größe", "status", "analysis2", "string", "feed"])
def test_what_has_no_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_an_adverb_and_a_noun_lose_their_long_endings() -> None:
    assert stem("automatically") == "automatical"
    assert stem("management") == stem("manage")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getUserById", ["get", "user", "id"]),
        ("list-open_items.v2", ["list", "open", "item", "v2"]),
        ("GitHub", ["git", "hub", "github"]),
        ("Café", ["caf"]),
        ("天气bing", ["天气", "bing"]),
        ("图", ["图"]),
        ("the of and", []),
        ("x" * 41, []),
        ("é" * 41, []),
        ("天" * 60, ["天天"] * 59),
        ("天" + "x" * 41, ["天"]),
    ],
)
def test_a_text_is_split_into_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_what_is_known_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CACHED", 2)
    monkeypatch.setattr(module, "_CACHE", {})

    assert terms("lamp desk chair bed") == ["lamp", "desk", "chair", "bed"]
    assert len(vars(module)["_CACHE"]) <= 2


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("open a.xlsx", "open  |file excel spreadsheet sheet| "),
        ("look into ~/music/", "look into  |directory folder| "),
        ("look into /srv/x.unknown now", "look into  |file| now"),
        (r"save C:\temp\a.md", "save  |file markdown| "),
        (
            "see https://www.youtube.com/watch?v=1",
            "see  youtube |url web page website fetch youtube video| ",
        ),
        ("see www.example.org/a.pdf", "see  example |url web page website fetch| "),
        ("x" * 200, " "),
        ("https://example.com/" + "x" * 200, " example |url web page website fetch| "),
        ("either/or", "either/or"),
        (f"a{MARK}b", "a b"),
    ],
)
def test_paths_and_links_are_read_as_what_they_ask_for(said: str, read: str) -> None:
    assert read_cues(said).replace(MARK, "|").split() == read.split()


def test_a_message_is_split_into_sentences_and_these_into_needs() -> None:
    said = "Get a.b first. Then list files, mails and notes; finally mail them"

    texts = [[need.text for need in sentence] for sentence in read_needs([said])]

    assert texts == [["Get a.b"], ["list files", "mails", "notes"], ["mail them"]]


def test_the_last_message_counts_most_and_only_a_few_are_read() -> None:
    said = [f"word{number}" for number in range(6)]

    found = [(need.text, need.weight) for needs in read_needs(said) for need in needs]

    assert found == [("word5", 1.0), ("word4", 0.5), ("word3", 0.25), ("word2", 0.125)]


def test_of_a_long_message_the_beginning_and_the_end_are_read_and_few_needs() -> None:
    said = "first lamp. " + "filler " * 3_000 + ". last lantern"
    found = {term for needs in read_needs([said]) for need in needs for term in need.terms}
    many = read_needs([". ".join(f"word{number}, more{number}" for number in range(100))])

    assert {"lamp", "lantern"} <= found
    assert sum(len(texts) for texts in many) == 24


def test_words_that_stand_side_by_side_are_also_one() -> None:
    ((need,),) = read_needs(["a mind map of /x/y.md"])

    assert need.terms["mindmap"] == 1.0
    assert need.terms["markdown"] == 0.8


def test_nothing_is_asked_for_by_nothing() -> None:
    assert read_needs([]) == read_needs(["", " ?! "]) == []
