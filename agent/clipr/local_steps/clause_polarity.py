"""Classify whether a clause wants or refuses something: a linear model over MiniLM embeddings.

An addition of this project. In the paper a large language model reads answers. The model is fitted to the example
clauses of ``housekeep_configs/clipr/clauses.yaml``.
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
from housewise.core.validation import StrictModel, read_model
from housewise.language.embedder import Embedder
from housewise.language.words import normalize_letters

CLAUSES = CONFIGS / "clipr" / "clauses.yaml"
IT = "it"
"""Placeholder in a clause for what the clause is about."""
_RIDGE = 0.005
"""Weight of the ridge penalty, chosen by cross-validation over the writers of the clauses."""
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
_MAX_THINGS = 4
"""Number of things, drawn per clause, that replace ``{it}`` in the training clauses."""
_NOTHING = 0.05
"""Score from which an answer counts as expressing no wish; the training target is 1."""

_Clauses = Annotated[tuple[str, ...], Field(min_length=1)]


class ClauseExamples(StrictModel):
    """Training data: clauses about ``{it}``, or about anything, that want it, refuse it or do neither.

    Attributes:
        nothing: Whole answers that express no wish.
    """

    wanted: _Clauses
    refused: _Clauses
    neutral: _Clauses
    nothing: _Clauses

    @property
    def digest(self) -> str:
        """SHA-256 digest of the training data."""
        return sha256(self.model_dump_json().encode()).hexdigest()


class PolarityWeights(StrictModel):
    """Weights of the two linear models, bias last, and the embedder and training data they belong to."""

    embedder: str
    clauses: str
    wanted: tuple[float, ...]
    nothing: tuple[float, ...]


class PolarityModel:
    """Predicts the polarity of clauses.

    Args:
        embedder: Sentence embeddings of the clauses.
        fitted: Weights that were fitted with this embedder; see fit_polarity.
    """

    def __init__(self, embedder: Embedder, fitted: PolarityWeights) -> None:
        self._embedder = embedder
        self._wanted, self._nothing = np.array(fitted.wanted), np.array(fitted.nothing)

    def __call__(self, clauses: Sequence[str]) -> NDArray[np.float64]:
        """Return the polarity of each clause, in [-1, 1]: 1 wants what it names, -1 refuses it, 0 does neither."""
        scores: NDArray[np.float64] = _features(self._embedder, clauses) @ self._wanted
        return scores.clip(-1, 1)

    def expresses_no_wish(self, answer: str) -> bool:
        """Return whether a whole answer expresses no wish."""
        return float((_features(self._embedder, [answer]) @ self._nothing)[0]) > _NOTHING


def fit_polarity(embedder: Embedder, clauses: ClauseExamples) -> PolarityWeights:
    """Fit both linear models by ridge regression. Takes a few seconds."""
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
    """Fill the placeholder of each clause with ``it`` and with drawn things."""
    things = [[IT, *draw.sample(_THINGS, _MAX_THINGS)] if "{it}" in clause else [IT] for clause in clauses]
    pairs = zip(clauses, things, strict=True)
    return [normalize_letters(clause.replace("{it}", thing)) for clause, each in pairs for thing in each]


def _fit_weights(classes: Mapping[float, NDArray[np.float64]]) -> tuple[float, ...]:
    """Fit weights by ridge regression. Every class has the same total weight; the bias is not penalised."""
    features = np.vstack(list(classes.values()))
    values = np.concatenate([np.full(len(each), value) for value, each in classes.items()])
    weighed = features * np.concatenate([np.full(len(each), 1 / len(each)) for each in classes.values()])[:, None]
    penalty = np.diag([*[_RIDGE] * (features.shape[1] - 1), 0.0])
    found = np.linalg.solve(features.T @ weighed + penalty, weighed.T @ values)
    return tuple(round(float(weight), 5) for weight in found)


def weights_file(path: Path) -> Path:
    """Return the path of the weights that belong to a file of clauses."""
    return path.with_suffix(".fitted.json")


@lru_cache(maxsize=2)
def load_polarity_model(embedder: Embedder, path: Path = CLAUSES) -> PolarityModel:
    """Load the stored weights if they match embedder and clauses; otherwise fit them.

    Raises:
        DataError: The clauses cannot be read.
    """
    clauses = read_model(path, ClauseExamples)
    if (file := weights_file(path)).is_file():
        before = PolarityWeights.model_validate_json(read_bytes(file))
        if (before.embedder, before.clauses) == (embedder.name, clauses.digest):
            return PolarityModel(embedder, before)
    return PolarityModel(embedder, fit_polarity(embedder, clauses))
