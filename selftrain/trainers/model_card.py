"""Text files of a training for people: the model card, and the training curve."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from housewise.core.formatting import plural
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.trained_model import ModelReference


def model_card(config: TrainingConfig, seed: int, start: ModelReference, metrics: dict[str, float]) -> str:
    """Return the model card of trained weights in Markdown."""
    is_adapter, is_preference = config.method == "lora", isinstance(config, PreferenceConfig)
    noun, columns = ("preference", "(prompt, chosen, rejected)") if is_preference else ("pair", "(prompt, reply)")
    return "\n".join(
        [
            "---",
            *(["library_name: peft"] if is_adapter else []),
            "tags: [housewise, household-robot]",
            "---",
            f"# {'A LoRA adapter' if is_adapter else 'A language model'} that plans for a household robot",
            "",
            f"Trained by Housewise on {plural(round(metrics['pairs']), f'{columns} {noun}')}, from `{start.model}`"
            + (f" with the adapter `{start.adapter}`." if start.adapter else "."),
            f"The {noun}s are in `{noun}s.jsonl` of the phase's folder; `curve.csv` is the training curve.",
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
    """Return the training's log as CSV, a line for each optimiser step."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(entry for entry in history if "loss" in entry)
    return text.getvalue()
