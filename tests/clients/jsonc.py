"""JSON as people write it: any value, with any blanks, line ends and comments between."""

import json
from typing import Any

from hypothesis import strategies as st

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | names
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
_comment = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n*/\u2028\u2029")
)


@st.composite
def written(draw: st.DrawFn, value: Any, *, line: str, has_comments: bool) -> str:
    """`value` as a text with blanks and comments at every place that may hold them."""

    def gap() -> str:
        kinds = ["", " ", line, f"{line}  ", "\t"]
        if has_comments:
            kinds += ["//", "/*"]
        kind = draw(st.sampled_from(kinds))
        if kind == "//":
            return f"// {draw(_comment)}{line}"
        return f"/* {draw(_comment)} */" if kind == "/*" else kind

    def write(one: Any) -> str:
        if isinstance(one, dict):
            inner = [
                f"{gap()}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}"
                f"{write(item)}{gap()}"
                for key, item in one.items()
            ]
            return f"{{{','.join(inner) or gap()}}}"
        if isinstance(one, list):
            return f"[{','.join(f'{gap()}{write(item)}{gap()}' for item in one) or gap()}]"
        return json.dumps(one, ensure_ascii=draw(st.booleans()))

    return f"{gap()}{write(value)}{gap()}"


@st.composite
def files(
    draw: st.DrawFn,
    name: st.SearchStrategy[str] = names,
    entry: st.SearchStrategy[Any] = values,
) -> tuple[bytes, dict[str, Any]]:
    """A configuration as bytes, and its servers, at least one; the key is `mcpServers`."""
    servers = draw(st.dictionaries(name.filter(lambda one: one != "sayso"), entry, min_size=1))
    around = draw(
        st.dictionaries(names.filter(lambda one: one != "mcpServers"), values, max_size=3)
    )
    pairs = [*around.items()]
    pairs.insert(draw(st.integers(0, len(pairs))), ("mcpServers", servers))
    line = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(written(dict(pairs), line=line, has_comments=draw(st.booleans())))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + text.encode(), servers
