"""What clauses teach of wishes and refusals: cross-validated, and kept so that nobody has to wait for it.

    python -m housewise.experiments.clipr.clauses [--keep] [--json OUT]

Run it with ``--keep`` after ``clauses.yaml`` was changed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from housewise.agent.clipr.local_steps.clause_polarity import (
    CLAUSES,
    ClauseExamples,
    PolarityModel,
    fit_polarity,
    weights_file,
)
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.validation import read_model
from housewise.language.embedder import Embedder, MiniLM

FOLDS = 5
SEED = 0
_THING = "the blue mug"
"""Stands for what a clause is about; no clause is taught with it."""


def cross_validated(embedder: Embedder, clauses: ClauseExamples) -> dict[str, float]:
    """Shares of clauses that are told rightly by what the other four fifths teach."""
    told: dict[str, list[bool]] = {kind: [] for kind in ClauseExamples.model_fields}
    fifths = {kind: _fifths(getattr(clauses, kind)) for kind in told}
    for held in range(FOLDS):
        rest = {kind: tuple(_but(parts, held)) for kind, parts in fifths.items()}
        learned = PolarityModel(embedder, fit_polarity(embedder, ClauseExamples(**rest)))
        said = {kind: [clause.replace("{it}", _THING) for clause in parts[held]] for kind, parts in fifths.items()}
        told["wanted"] += list(learned(said["wanted"]) > 0)
        told["refused"] += list(learned(said["refused"]) < 0)
        told["neutral"] += list(np.abs(learned(said["neutral"])) < 0.5)
        told["nothing"] += [learned.expresses_no_wish(answer) for answer in said["nothing"]]
    return {kind: float(np.mean(right)) for kind, right in told.items()}


def _fifths(clauses: Sequence[str]) -> list[list[str]]:
    mixed = random.Random(SEED).sample(list(clauses), len(clauses))
    return [mixed[start::FOLDS] for start in range(FOLDS)]


def _but(parts: Sequence[Sequence[str]], held: int) -> list[str]:
    return [clause for place, part in enumerate(parts) if place != held for clause in part]


def main(
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
    keep: Annotated[bool, typer.Option(help="Write the weights beside the clauses.")] = False,
) -> None:
    """Measure what clauses teach, and keep it."""
    console, made = Console(), provenance()
    try:
        embedder, clauses = MiniLM(), read_model(CLAUSES, ClauseExamples)
        if keep:
            weights_file(CLAUSES).write_text(fit_polarity(embedder, clauses).model_dump_json() + "\n", encoding="utf-8")
    except UserError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    shares = cross_validated(embedder, clauses)
    counts = {kind: len(getattr(clauses, kind)) for kind in shares}
    for kind, share in shares.items():
        console.print(f"{kind}: {100 * share:.1f} % of {counts[kind]} told rightly")
    if out is not None:
        write_json(out, {"told_rightly": shares, "n": counts, "folds": FOLDS, "embedder": embedder.name, **made})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
