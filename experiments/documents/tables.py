"""The tables of README and docs, each drawn from files of results by a function of its own."""

from __future__ import annotations

import re

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn, figure, markdown
from housewise.experiments.documents.results_page import draw_results


def engines(files: FigureFiles) -> str:
    """How fast other engines are beside the local model's, in tasks of several kinds."""
    rows = "bench/engines.json#/rows"

    def format_cell(count: int, measure: str, engine: str, key: str, form: str) -> str:
        return figure(f"{rows}/measure={measure},conversations={count},engine={engine}/{key}", form, files)

    def ratio(count: int, measure: str, engine: str) -> str:
        median, *ends = (
            format_cell(count, measure, engine, f"ratio/{key}", ".2f") for key in ("median", "least", "most")
        )
        return f"{median} ({' to '.join(ends)})"

    def row(count: int, measure: str) -> list[str]:
        speed = format_cell(count, measure, "housewise", "per_second/median", ".2f" if measure == "plans" else ".0f")
        return [str(count), measure, speed, *(ratio(count, measure, engine) for engine in _PEERS)]

    columns = ("at once", "", "tokens, or plans, a second of ours", *_PEERS.values())
    return markdown(columns, [row(count, measure) for count in (1, 16) for measure in ("reading", "writing", "plans")])


def fidelity(files: FigureFiles) -> str:
    """How recorded episodes of Habitat went when they were played again in the embedded simulator."""
    file = "bench/fidelity.json"

    def format_cell(words: str) -> str:
        return re.sub(r"\{(\S+) (\S+)\}", lambda mark: figure(f"{file}#/{mark[1]}", mark[2], files), words)

    columns = (format_cell("what, over {episodes d} recordings"), "figure")
    return markdown(columns, [[format_cell(cell) for cell in row] for row in _FIDELITY])


TABLES: dict[str, Drawn] = {
    "all results": draw_results,
    "engines": engines,
    "fidelity": fidelity,
}
"""How each table is drawn, by the name that a mark says."""

_PEERS = {"generate": "`generate`", "continuous": "continuous batching", "llama.cpp": "llama.cpp, Q4_1"}
_FIDELITY = (
    ("recorded steps that resolve to the recorded action and target", "{parse_agreement .1%}"),
    (
        "picks and places with the recorded effect, from the recorded placements before each action",
        "{effect_agreement .1%}",
    ),
    ("actions that take the recorded number of low-level steps", "{actions_of_recorded_length .1%} of {actions ,}"),
    ("walks (of at least one step, in either) that do", "{walks_of_recorded_length .1%} of {walks ,}"),
    ("low-level steps of an action, ours / recorded", "{low_level_steps .1f} / {low_level_steps_recorded .1f}"),
    (
        "what each action discovers, F1 (precision, recall)",
        "{discovery_f1 .3f} ({discovery_precision .3f}, {discovery_recall .3f})",
    ),
    ("the same, in step", "{discovery_f1_in_step .3f}"),
    (
        "objects that end up where they ended up in the record, whole episodes without looking at the record again",
        "{final_placement_agreement .1%}",
    ),
    ("success over whole episodes, ours / recorded", "{success_rate .1f} % / {success_rate_recorded .1f} %"),
)
