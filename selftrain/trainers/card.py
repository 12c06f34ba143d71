"""What people read of a training: the card of its model, and its curve."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.base import ModelReference


def model_card(config: TrainingConfig, seed: int, start: ModelReference, metrics: dict[str, float]) -> str:
    """The model card of a training's weights."""
    what = "A LoRA adapter" if config.method == "lora" else "A language model"
    front = {"library_name": "peft"} if config.method == "lora" else {}
    lines = [f"{key}: {value}" for key, value in {**front, "tags": "[housewise, household-robot]"}.items()]
    return "\n".join(
        [
            "---",
            *lines,
            "---",
            f"# {what} that plans for a household robot",
            "",
            f"Trained by Housewise on {metrics['pairs']:.0f} (prompt, reply) pairs, from `{start.model}`"
            + (f" with the adapter `{start.adapter}`." if start.adapter else "."),
            "The pairs are in `pairs.jsonl` of the phase's folder; `curve.csv` is the training curve.",
            "",
            "| figure | value |",
            "|---|---|",
            *(f"| {name} | {value:.4g} |" for name, value in metrics.items()),
            f"| seed | {seed} |",
            "",
            "```json",
            json.dumps(config.model_dump(), indent=1),
            "```",
            "",
        ]
    )


def curve_csv(history: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """The training's log as CSV, a line for each optimiser step."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(entry for entry in history if "loss" in entry)
    return text.getvalue()
