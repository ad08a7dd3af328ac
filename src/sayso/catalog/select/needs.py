"""Needs: what a message asks for, part by part, so that one does not crowd out another.

A path, a link or a file's kind in it asks too: `/home/ann/talk.pptx` is about a presentation and
about a file; its folders' names are about nothing.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sayso.catalog.select.terms import terms

_HEAD: Final = 3_000
_TAIL: Final = 1_000
"""Of a long message its beginning and its end are read: there people say what they want."""
_MOST: Final = 24
_MOST_MESSAGES: Final = 4
_FADING: Final = 0.5
"""What a message counts beside the one after it."""
_CUED: Final = 0.8
"""What a word counts that the message does not say, but asks for."""

_SENTENCE: Final = re.compile(
    r"""(?<=[^\s.!?;]{2})[.!?;]+(?=[\s"'’”)]|$) | [\u3002\uff01\uff1f\uff1b]+ | \n+
    | \b(?:then|also|finally|lastly|next|additionally|furthermore|moreover|besides
        |first(?:ly)?|second(?:ly)?|third(?:ly)?|after(?:wards|\ that|\ this))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE: Final = re.compile(r"[\uff0c\u3001]+|,\s+|:\s+|\b(?:and|as\ well\ as)\b", re.IGNORECASE)

_KINDS: Final = {
    "csv": "csv table data",
    "db": "database",
    "doc docx odt": "word document",
    "htm html": "html page",
    "gif jpeg jpg png svg webp bmp tiff heic": "image picture",
    "ipynb": "notebook",
    "json": "json",
    "flac m4a mp3 ogg wav": "audio",
    "md": "markdown",
    "avi mkv mov mp4 webm": "video",
    "pdf": "pdf document",
    "ppt pptx odp key": "powerpoint presentation slide",
    "c cpp go java js php py rb rs sh ts": "code",
    "sqlite sql": "sql database",
    "log": "log text",
    "rtf txt": "text",
    "ods tsv xls xlsx": "excel spreadsheet sheet",
    "xml": "xml",
    "yaml yml": "yaml",
    "7z gz rar tar tgz zip": "archive zip",
}
_ENDINGS: Final = {ending: words for said, words in _KINDS.items() for ending in said.split()}
_SITES: Final = {
    "youtube": "youtube video",
    "youtu": "youtube video",
    "vimeo": "video",
    "github": "github repository",
    "gitlab": "gitlab repository",
    "arxiv": "arxiv paper",
    "wikipedia": "wikipedia article",
}
_HERE: Final = "url web page website fetch"
_BLOB: Final = re.compile(r"[^\s\u3040-\u9fff]{100,}")
_LINK: Final = re.compile(
    r"(?:https?://|www\.)(?P<host>[^\s/\"'<>)\]]+)[^\s\"'<>)\]]*", re.IGNORECASE
)
_ENDED: Final = "|".join(sorted(_ENDINGS, key=len, reverse=True))
_PATH: Final = re.compile(
    r"(?<![\w/.])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.\-]+(?:[/\\][\w.\-]+)*[/\\]?"
    rf"|(?<![\w/.])[\w\-]{{1,80}}\.(?:{_ENDED})\b",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(r"\.(\w{1,10})\.?$")
MARK: Final = "\0"
"""Stands before and after words that a message does not say, but asks for."""


class Need(NamedTuple):
    """One thing that is asked for: what each of its terms counts, and what the whole does."""

    text: str
    terms: Mapping[str, float]
    weight: float = 1.0


def read_needs(messages: Sequence[str]) -> list[list[Need]]:
    """What is asked for, a list for each sentence; the last message counts most.

    >>> [[need.text for need in said] for said in read_needs(["List and sort files. Mail them."])]
    [['List', 'sort files'], ['Mail them']]
    """
    found: list[list[Need]] = []
    weight = 1.0
    left = _MOST
    for message in list(reversed(messages))[:_MOST_MESSAGES]:
        for sentence in _SENTENCE.split(read_cues(_cut(message))):
            parts = ((part, _count(part)) for part in _CLAUSE.split(sentence))
            needs = [Need(part.strip(), counted, weight) for part, counted in parts if counted]
            if needs and left > 0:
                found.append(needs[:left])
                left -= len(needs)
        weight *= _FADING
    return found


def _cut(message: str) -> str:
    if len(message) <= _HEAD + _TAIL:
        return message
    return f"{message[:_HEAD]}\n{message[-_TAIL:]}"


def _count(part: str) -> dict[str, float]:
    """What each term of a part counts; every second piece stands between marks."""
    found: dict[str, float] = {}
    for place, piece in enumerate(part.split(MARK)):
        said = terms(piece)
        counts = _CUED if place % 2 else 1.0
        for term in said:
            found.setdefault(term, counts)
        if not place % 2:
            for first, other in pairwise(said):
                found.setdefault(first + other, 1.0)
    return found


def read_cues(text: str) -> str:
    """A message in which each link and path is replaced by what it asks for, between marks.

    >>> read_cues("save it to /home/ann/talk.pptx").replace(MARK, "|")
    'save it to  |file powerpoint presentation slide| '
    """
    text = _BLOB.sub(_of_blob, text.replace(MARK, " "))
    return _PATH.sub(_of_path, _LINK.sub(_of_link, text))


def _of_blob(found: re.Match[str]) -> str:
    if _LINK.match(found.group()):
        return found.group()
    return " "


def _of_link(found: re.Match[str]) -> str:
    parts = found["host"].lower().split(".")
    named = [part for part in parts if part not in ("www", "com", "org", "net")]
    known = next((_SITES[part] for part in parts if part in _SITES), "")
    return f" {' '.join(named)} {MARK}{f'{_HERE} {known}'.strip()}{MARK} "


def _of_path(found: re.Match[str]) -> str:
    path = found.group()
    ending = _ENDING.search(path)
    kind = "directory folder"
    if ending is not None:
        kind = f"file {_ENDINGS.get(ending[1].lower(), '')}"
    return f" {MARK}{kind.strip()}{MARK} "
