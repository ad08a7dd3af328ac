"""A filter of records that the database can apply without reading their JSON."""

from dataclasses import dataclass
from typing import Any

from sayso.store.rows import storable


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Conditions on records. The result may contain too much, so check it again.

    The body must contain one text of each group in `texts`, no text of `without`, and all `words`.
    Words are in lower case and match any case. Times are Unix seconds; `until` is exclusive.
    """

    texts: tuple[tuple[str, ...], ...] = ()
    without: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    subject: str | None = None
    since: float | None = None
    until: float | None = None

    def conditions(self) -> tuple[list[str], dict[str, Any]]:
        values: dict[str, Any] = {}
        conditions: list[str] = []
        for group, texts in enumerate(self.texts):
            names = [f"text_{group}_{index}" for index in range(len(texts))]
            values |= dict(zip(names, map(_within, texts), strict=True))
            any_of = " OR ".join(f"records.body LIKE :{name} ESCAPE '!'" for name in names)
            conditions.append(f"({any_of})")
        for index, text in enumerate(self.without):
            values[f"without_{index}"] = _within(text)
            conditions.append(f"records.body NOT LIKE :without_{index} ESCAPE '!'")
        for index, word in enumerate(self.words):
            values[f"word_{index}"] = _within(word)
            conditions.append(f"lower(records.body) LIKE :word_{index} ESCAPE '!'")
        for sql, name, value in (
            ("records.subject = :subject", "subject", self.subject and storable(self.subject)),
            ("records.at >= :since", "since", self.since),
            ("records.at < :until", "until", self.until),
        ):
            if value is not None:
                conditions.append(sql)
                values[name] = value
        return conditions, values


def _within(text: str) -> str:
    for sign in "!%_":
        text = text.replace(sign, f"!{sign}")
    return f"%{storable(text)}%"
