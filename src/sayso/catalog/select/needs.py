"""Needs: the parts of a message, scored separately so that no part crowds out another.

A path or a link is replaced by what it implies: `/home/ann/talk.pptx` means a presentation and a
file, not its folders.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sayso.catalog.select.terms import terms

_HEAD: Final = 3_000
_TAIL: Final = 1_000
"""Only the beginning and the end of a long message are read."""
_MAX_NEEDS: Final = 24
_MAX_MESSAGES: Final = 4
_FADING: Final = 0.5
"""The weight of a message relative to the next one."""
_CUED: Final = 0.8
"""The weight of an implied word."""

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
_ENDINGS: Final = {ending: words for endings, words in _KINDS.items() for ending in endings.split()}
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
"""The delimiter around implied words."""


class Need(NamedTuple):
    """One part of a message, with the weights of its terms and of the whole."""

    text: str
    terms: Mapping[str, float]
    weight: float = 1.0


def read_needs(messages: Sequence[str]) -> list[list[Need]]:
    """Return the needs of each sentence; the last message counts most.

    >>> [[need.text for need in needs] for needs in read_needs(["List and sort files. Mail them."])]
    [['List', 'sort files'], ['Mail them']]
    """
    sentences: list[list[Need]] = []
    weight = 1.0
    remaining = _MAX_NEEDS
    for message in list(reversed(messages))[:_MAX_MESSAGES]:
        for sentence in _SENTENCE.split(read_cues(_cut(message))):
            parts = ((part, _count(part)) for part in _CLAUSE.split(sentence))
            needs = [Need(part.strip(), counted, weight) for part, counted in parts if counted]
            if needs and remaining > 0:
                sentences.append(needs[:remaining])
                remaining -= len(needs)
        weight *= _FADING
    return sentences


def _cut(message: str) -> str:
    if len(message) <= _HEAD + _TAIL:
        return message
    return f"{message[:_HEAD]}\n{message[-_TAIL:]}"


def _count(part: str) -> dict[str, float]:
    """Return the weight of each term. Between two `MARK`s the words are implied."""
    weights: dict[str, float] = {}
    for place, piece in enumerate(part.split(MARK)):
        words = terms(piece)
        weight = _CUED if place % 2 else 1.0
        for term in words:
            weights.setdefault(term, weight)
        if not place % 2:
            for first, other in pairwise(words):
                weights.setdefault(first + other, 1.0)
    return weights


def read_cues(text: str) -> str:
    """Replace each link and path by the words that it implies, between two `MARK`s.

    >>> read_cues("save it to /home/ann/talk.pptx").replace(MARK, "|")
    'save it to  |file powerpoint presentation slide| '
    """
    text = _BLOB.sub(_of_blob, text.replace(MARK, " "))
    return _PATH.sub(_of_path, _LINK.sub(_of_link, text))


def _of_blob(match: re.Match[str]) -> str:
    if _LINK.match(match.group()):
        return match.group()
    return " "


def _of_link(match: re.Match[str]) -> str:
    parts = match["host"].lower().split(".")
    named = [part for part in parts if part not in ("www", "com", "org", "net")]
    known = next((_SITES[part] for part in parts if part in _SITES), "")
    return f" {' '.join(named)} {MARK}{f'{_HERE} {known}'.strip()}{MARK} "


def _of_path(match: re.Match[str]) -> str:
    path = match.group()
    ending = _ENDING.search(path)
    kind = "directory folder"
    if ending is not None:
        kind = f"file {_ENDINGS.get(ending[1].lower(), '')}"
    return f" {MARK}{kind.strip()}{MARK} "
