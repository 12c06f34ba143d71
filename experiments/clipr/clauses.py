"""What clauses teach of wishes and refusals.

    python -m housewise.experiments.clipr.clauses

fits the classifier again and stores its weights beside ``clauses.yaml``, after that file was changed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from housewise.agent.clipr.local_steps.clause_polarity import (
    CLAUSES,
    ClauseExamples,
    PolarityModel,
    fit_polarity,
    weights_file,
)
from housewise.core.files import write_text
from housewise.core.validation import read_model
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm

FOLDS = 5
SEED = 0
_THING = "the blue mug"
"""Stands for what a clause is about; no clause is taught with it."""


def measure_clauses() -> Iterator[MeasuredValue]:
    """Measure which clauses are classified rightly by a model that was fitted to the other folds."""
    clauses, embedder = read_model(CLAUSES, ClauseExamples), shared_minilm()
    parts = {kind: _split(getattr(clauses, kind)) for kind in ClauseExamples.model_fields}
    for fold in range(FOLDS):
        rest = {
            kind: tuple(clause for place, part in enumerate(folds) if place != fold for clause in part)
            for kind, folds in parts.items()
        }
        learned = PolarityModel(embedder, fit_polarity(embedder, ClauseExamples(**rest)))
        said = {kind: [clause.replace("{it}", _THING) for clause in folds[fold]] for kind, folds in parts.items()}
        right: dict[str, Sequence[bool]] = {
            "wanted": list(learned(said["wanted"]) > 0),
            "refused": list(learned(said["refused"]) < 0),
            "neutral": list(np.abs(learned(said["neutral"])) < 0.5),
            "nothing": [learned.expresses_no_wish(answer) for answer in said["nothing"]],
        }
        for kind, values in right.items():
            for number, value in enumerate(values):
                yield MeasuredValue(f"{kind} {fold}.{number}", 0, kind, float(value))


def _split(clauses: Sequence[str]) -> list[list[str]]:
    mixed = random.Random(SEED).sample(list(clauses), len(clauses))
    return [mixed[start::FOLDS] for start in range(FOLDS)]


if __name__ == "__main__":
    fitted = fit_polarity(shared_minilm(), read_model(CLAUSES, ClauseExamples))
    write_text(weights_file(CLAUSES), fitted.model_dump_json() + "\n")
