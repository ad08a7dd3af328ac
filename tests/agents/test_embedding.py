"""Models that give a selector vectors: loaded where they are asked for, from where they are."""

from pathlib import Path
from typing import Any

import pytest

from sayso import Selector
from sayso.agents.embedding import embed_with_fastembed, embed_with_model2vec
from sayso.errors import UsageError


@pytest.mark.parametrize("embed", [embed_with_fastembed, embed_with_model2vec])
def test_without_the_extra_it_says_how_to_get_it(
    embed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = embed.__name__.removeprefix("embed_with_")
    monkeypatch.setitem(__import__("sys").modules, package, None)

    with pytest.raises(UsageError, match=f"sayso.{package}"):
        embed()


def test_a_model_of_model2vec_is_read_from_its_folder(tmp_path: Path) -> None:
    model2vec: Any = pytest.importorskip("model2vec")
    tokenizers: Any = pytest.importorskip("tokenizers")
    numpy: Any = pytest.importorskip("numpy")
    words = {"[UNK]": 0, "lamp": 1, "lantern": 2, "mail": 3}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = numpy.array([[0.0, 0.0], [1.0, 0.1], [0.9, 0.1], [0.0, 1.0]])
    model2vec.StaticModel(vectors, made).save_pretrained(tmp_path)

    embed = embed_with_model2vec(str(tmp_path))
    selector = Selector([{"name": "mail"}, {"name": "lamp"}], embed=embed)

    assert selector.select("lantern", 1, least=0).names == ("lamp",)


def test_a_model_of_fastembed_gives_what_it_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its models come from elsewhere and cannot be had here, so what loads them stands in.
    class TextEmbedding:
        def __init__(self, model_name: str, **options: Any) -> None:
            self.said = (model_name, options)

        def embed(self, documents: list[str]) -> Any:
            return ([float("lamp" in one or "lantern" in one), 1.0] for one in documents)

    module = type("fastembed", (), {"TextEmbedding": TextEmbedding})
    monkeypatch.setitem(__import__("sys").modules, "fastembed", module)

    embed = embed_with_fastembed("some/model", threads=1)
    selector = Selector([{"name": "mail"}, {"name": "lamp"}], embed=embed)

    assert selector.select("lantern", 1, least=0).names == ("lamp",)
