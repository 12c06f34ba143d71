"""Whether a clause says that something is wanted: a linear model over MiniLM, taught by clauses that people might say.

Ours, not the paper's: there a large language model reads answers.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.files import read_bytes
from housewise.language.embedder import Embedder
from housewise.language.words import normalize_letters
from housewise.worlds.choices.files import StrictSettings, read_yaml_settings

CLAUSES = CONFIGS / "clipr" / "clauses.yaml"
IT = "it"
"""Stands in a clause for what it is about."""
_RIDGE = 0.005
"""Weight of the penalty; chosen across writers of clauses."""
_THINGS = (
    "cola",
    "rye bread",
    "the shelf in the kitchen",
    "a glass bowl",
    "green tea",
    "the wooden spoon",
    "heavy stews and roasts",
    "something sweet or creamy",
    "whatever is fresh and crunchy",
    "cupboard in the hall or drawer in the kitchen",
    "loud games with many people",
    "plain rice and steamed fish",
    "cotton",
    "used things that nobody else wants",
    "a lamp that can be dimmed",
    "tools and screws",
)
_MOST_THINGS = 4
"""Some of these, drawn for each, are what a clause is taught with in place of ``{it}`` as well."""
_NOTHING = 0.05
"""Score, of 1, from which an answer is taken to tell no wish."""

_Clauses = Annotated[tuple[str, ...], Field(min_length=1)]


class ClauseExamples(StrictSettings):
    """What to learn from: clauses that say of ``{it}``, or of anything, that it is wanted, that it is not, or neither.

    Attributes:
        nothing: whole answers that tell no wish.
    """

    wanted: _Clauses
    refused: _Clauses
    neutral: _Clauses
    nothing: _Clauses

    @property
    def digest(self) -> str:
        """Of all that is learned from."""
        return sha256(self.model_dump_json().encode()).hexdigest()


class PolarityWeights(StrictSettings):
    """Weights of the two linear models, the constant's last, and the embedder and clauses that they are for."""

    embedder: str
    clauses: str
    wanted: tuple[float, ...]
    nothing: tuple[float, ...]


class PolarityModel:
    """Tells of clauses whether what they name is wanted.

    Args:
        embedder: of the clauses.
        fitted: for that embedder; see fit.
    """

    def __init__(self, embedder: Embedder, fitted: PolarityWeights) -> None:
        self._embedder = embedder
        self._wanted, self._nothing = np.array(fitted.wanted), np.array(fitted.nothing)

    def __call__(self, clauses: Sequence[str]) -> NDArray[np.float64]:
        """About 1 for each clause that wants what it names, -1 for each that refuses it, 0 where it does neither."""
        scores: NDArray[np.float64] = _features(self._embedder, clauses) @ self._wanted
        return scores.clip(-1, 1)

    def expresses_no_wish(self, answer: str) -> bool:
        """Whether a whole answer tells no wish."""
        return float((_features(self._embedder, [answer]) @ self._nothing)[0]) > _NOTHING


def fit_polarity(embedder: Embedder, clauses: ClauseExamples) -> PolarityWeights:
    """What clauses teach, by ridge regression; takes a few seconds."""
    draw = random.Random(0)
    wanted, refused = (_features(embedder, _fill_clauses(said, draw)) for said in (clauses.wanted, clauses.refused))
    neutral, nothing = (_features(embedder, _fill_clauses(said, draw)) for said in (clauses.neutral, clauses.nothing))
    return PolarityWeights(
        embedder=embedder.name,
        clauses=clauses.digest,
        wanted=_fit_weights({1.0: wanted, -1.0: refused, 0.0: neutral}),
        nothing=_fit_weights({1.0: nothing, -1.0: np.vstack([wanted, refused])}),
    )


def _features(embedder: Embedder, clauses: Sequence[str]) -> NDArray[np.float64]:
    vectors = embedder.embed(list(clauses)).astype(np.float64)
    return np.hstack([vectors, np.ones((len(vectors), 1))])


def _fill_clauses(clauses: Sequence[str], draw: random.Random) -> list[str]:
    """Clauses about ``it``, and those with a place for it about a thing as well."""
    things = [[IT, *draw.sample(_THINGS, _MOST_THINGS)] if "{it}" in clause else [IT] for clause in clauses]
    pairs = zip(clauses, things, strict=True)
    return [normalize_letters(clause.replace("{it}", thing)) for clause, each in pairs for thing in each]


def _fit_weights(classes: Mapping[float, NDArray[np.float64]]) -> tuple[float, ...]:
    """Weights for the values of classes, which count the same; the last feature, which is constant, is free."""
    features = np.vstack(list(classes.values()))
    values = np.concatenate([np.full(len(each), value) for value, each in classes.items()])
    weighed = features * np.concatenate([np.full(len(each), 1 / len(each)) for each in classes.values()])[:, None]
    penalty = np.diag([*[_RIDGE] * (features.shape[1] - 1), 0.0])
    found = np.linalg.solve(features.T @ weighed + penalty, weighed.T @ values)
    return tuple(round(float(weight), 5) for weight in found)


def weights_file(path: Path) -> Path:
    """Where the weights stand that a file of clauses teaches."""
    return path.with_suffix(".fitted.json")


@lru_cache(maxsize=2)
def load_polarity_model(embedder: Embedder, path: Path = CLAUSES) -> PolarityModel:
    """The model for an embedder: as it was fitted before where clauses and embedder are the same, or fitted now, once.

    Raises:
        DataError: the clauses cannot be read.
    """
    clauses = read_yaml_settings(path, ClauseExamples)
    if (file := weights_file(path)).is_file():
        before = PolarityWeights.model_validate_json(read_bytes(file))
        if (before.embedder, before.clauses) == (embedder.name, clauses.digest):
            return PolarityModel(embedder, before)
    return PolarityModel(embedder, fit_polarity(embedder, clauses))
