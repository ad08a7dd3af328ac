"""Models that give `Selector` vectors; none comes with sayso, each is loaded when asked for.

    Selector(tools, embed=embed_with_model2vec("minishlab/potion-base-8M"))

Any other model is a function that gives a vector for each text (`sayso.catalog.Embed`).
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from sayso.catalog import Embed
from sayso.errors import UsageError
from sayso.extras import install_fix


def embed_with_fastembed(model: str = "BAAI/bge-small-en-v1.5", **options: Any) -> Embed:
    """A model of fastembed, by its name; `options` are those of its `TextEmbedding`.

    fastembed fetches a model that it does not have. Raises `UsageError` without the extra.
    """
    loaded = _load("fastembed").TextEmbedding(model, **options)

    def embed(texts: Sequence[str], /) -> Iterable[Sequence[float]]:
        return loaded.embed(list(texts))

    return embed


def embed_with_model2vec(model: str = "minishlab/potion-base-8M", **options: Any) -> Embed:
    """A model of model2vec, by its name or folder; `options` are those of `from_pretrained`.

    model2vec fetches a model that it does not have. Raises `UsageError` without the extra.
    """
    loaded = _load("model2vec").StaticModel.from_pretrained(model, **options)

    def embed(texts: Sequence[str], /) -> Iterable[Sequence[float]]:
        return loaded.encode(list(texts))

    return embed


def _load(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise UsageError(
            f"the package {package} is not installed", fix=install_fix(package)
        ) from error
