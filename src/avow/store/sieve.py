"""What of the log is looked for: all that a database can tell of a line without reading it."""

from dataclasses import dataclass
from typing import Any

from avow.store.rows import storable


@dataclass(frozen=True, slots=True)
class Sieve:
    """Lets through what may be wanted, and perhaps more: whoever asks looks again.

    Of each group in `texts` one stands in the body, as it is written there, and none of `without`
    does; each of `words` does, in whatever case, given in lower case. Times are Unix seconds,
    `until` not included.
    """

    texts: tuple[tuple[str, ...], ...] = ()
    without: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    subject: str | None = None
    since: float | None = None
    until: float | None = None

    def conditions(self) -> tuple[list[str], dict[str, Any]]:
        """The same in SQL on `records`, with its values."""
        values: dict[str, Any] = {}
        found: list[str] = []
        for group, texts in enumerate(self.texts):
            names = [f"text_{group}_{index}" for index in range(len(texts))]
            values |= dict(zip(names, map(_within, texts), strict=True))
            found.append(_any(f"records.body LIKE :{name} ESCAPE '!'" for name in names))
        for index, text in enumerate(self.without):
            values[f"without_{index}"] = _within(text)
            found.append(f"records.body NOT LIKE :without_{index} ESCAPE '!'")
        for index, word in enumerate(self.words):
            values[f"word_{index}"] = _within(word)
            found.append(f"lower(records.body) LIKE :word_{index} ESCAPE '!'")
        for sql, name, value in (
            ("records.subject = :subject", "subject", self.subject),
            ("records.at >= :since", "since", self.since),
            ("records.at < :until", "until", self.until),
        ):
            if value is not None:
                found.append(sql)
                values[name] = storable(value) if isinstance(value, str) else value
        return found, values


def _any(conditions: Any) -> str:
    return f"({' OR '.join(conditions)})"


def _within(text: str) -> str:
    """A pattern of `LIKE` that fits whatever holds `text`."""
    for sign in "!%_":
        text = text.replace(sign, f"!{sign}")
    return f"%{storable(text)}%"
