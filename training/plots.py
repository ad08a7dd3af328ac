"""The pictures of docs/explanation/hints.md, drawn from what was measured on unseen families."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
import numpy as np
from baselines import by_name, linear
from corpus import WRITES

from sayso.infer.evidence import evidence

if TYPE_CHECKING:
    from report import Unseen

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "sayso"
import matplotlib.pyplot as plt  # noqa: E402 - after the choice of how to draw

_BINS: Final = 10
_OURS: Final = "#0b6e4f"


def frontier(seen: "Unseen", path: Path) -> None:
    """How much is lost for how much safety, beside what others reach."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
    steps = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99])
    own = {name: dict(one) for name, one in seen.models[0].claims.items()}
    reads = [
        seen.at({**own, "read_only": {True: at, False: 0.5}}).figures("authors") for at in steps
    ]
    loses = [
        seen.at({**own, "destructive": {True: 0.5, False: at}}).figures("judged") for at in steps
    ]
    _line(left, reads, ("false-safe", "read_only recall"))
    _line(right, loses, ("missed", "destructive F1"))
    others = {
        "specification's defaults": [{} for _ in seen.cases],
        "name patterns": [by_name(one.tool) for one in seen.cases],
        "plain linear": linear(seen.cases),
    }
    for marker, (name, said) in zip("sXD", others.items(), strict=True):
        for axes, of, pair in (
            (left, "authors", ("false-safe", "read_only recall")),
            (right, "judged", ("missed", "destructive F1")),
        ):
            one = seen.figures(of, said)
            axes.plot(100 * one[pair[0]], one[pair[1]], marker, color="#777777", label=name)
    now = seen.figures("authors"), seen.figures("judged")
    left.plot(100 * now[0]["false-safe"], now[0]["read_only recall"], "*", ms=13, color=_OURS)
    right.plot(100 * now[1]["missed"], now[1]["destructive F1"], "*", ms=13, color=_OURS)
    left.set(xlabel="tools that write, called read-only, %", ylabel="recall of read-only")
    left.set_title("read_only, by authors' labels", fontsize=10)
    right.set(xlabel="destructive tools missed, %", ylabel="macro-F1 on tools that write")
    right.set_title("destructive, by the judgements", fontsize=10)
    left.legend(fontsize=8, loc="lower right")
    _save(figure, path)


def _line(axes: Any, points: list[dict[str, float]], pair: tuple[str, str]) -> None:
    axes.plot(
        [100 * one[pair[0]] for one in points],
        [one[pair[1]] for one in points],
        ".-",
        color=_OURS,
        label="sayso, by how sure it must be",
    )
    axes.grid(alpha=0.3)


def reliability(seen: "Unseen", path: Path) -> None:
    """How often what was said with so much confidence was so."""
    figure, all_axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
    chances = [
        model.chances(model.scores(model.rows(evidence(case.tool)[0])))
        for case, model in zip(seen.cases, seen.models, strict=True)
    ]
    for axes, name in zip(
        all_axes, ("read_only", "destructive", "idempotent", "open_world"), strict=True
    ):
        rows = [
            at
            for at, one in enumerate(seen.cases)
            if one.judged[name] is not None
            and (name in ("read_only", "open_world") or one.kind in WRITES)
        ]
        said = np.array([chances[at][name] for at in rows])
        true = np.array([bool(seen.cases[at].judged[name]) for at in rows])
        axes.plot([0, 1], [0, 1], ":", color="#777777")
        for step in np.arange(_BINS) / _BINS:
            among = (said >= step) & (said < step + 1 / _BINS)
            if among.sum() < 5:  # noqa: PLR2004 - too few to say anything
                continue
            share, low, high = _wilson(int(true[among].sum()), int(among.sum()))
            around = [[share - low], [high - share]]
            axes.errorbar(said[among].mean(), share, around, fmt="o", ms=4, color=_OURS)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("said")
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("was so")
    _save(figure, path)


def _wilson(so: int, all_: int, z: float = 1.645) -> tuple[float, float, float]:
    """A share, and between what nine tenths of the time it lies (Wilson's interval)."""
    share = so / all_
    middle = (share + z * z / (2 * all_)) / (1 + z * z / all_)
    half = z / (1 + z * z / all_) * np.sqrt(share * (1 - share) / all_ + z * z / (4 * all_**2))
    return share, min(share, middle - half), max(share, middle + half)


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
