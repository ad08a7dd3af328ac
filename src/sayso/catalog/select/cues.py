"""Cues: what a message asks for by what stands in it, such as a path, an address or a file's kind.

`/home/ann/talk.pptx` is about a presentation and about a file; its folders' names are about
nothing.
"""

import re
from typing import Final

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


def read_cues(text: str) -> str:
    """A message in which each link and path is replaced by what it asks for, between marks.

    >>> read_cues("save it to /home/ann/talk.pptx").replace(MARK, "|")
    'save it to  |file powerpoint presentation slide| '
    """
    text = _BLOB.sub(_of_blob, text.replace(MARK, " "))
    return _PATH.sub(_of_path, _LINK.sub(_of_link, text))


def _of_blob(found: re.Match[str]) -> str:
    return found.group() if _LINK.match(found.group()) else " "


def _of_link(found: re.Match[str]) -> str:
    parts = found["host"].lower().split(".")
    named = [part for part in parts if part not in ("www", "com", "org", "net")]
    known = next((_SITES[part] for part in parts if part in _SITES), "")
    return f" {' '.join(named)} {MARK}{f'{_HERE} {known}'.strip()}{MARK} "


def _of_path(found: re.Match[str]) -> str:
    path = found.group()
    ending = _ENDING.search(path)
    kind = "directory folder" if ending is None else f"file {_ENDINGS.get(ending[1].lower(), '')}"
    return f" {MARK}{kind.strip()}{MARK} "
