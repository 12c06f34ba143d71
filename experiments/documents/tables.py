"""The tables of README and docs, each drawn from files of results by a function of its own."""

from __future__ import annotations

from functools import partial

from housewise.experiments.documents import adapt, stars
from housewise.experiments.documents.marks import Drawn
from housewise.experiments.documents.results_page import draw_results

TABLES: dict[str, Drawn] = {
    "all results": draw_results,
    "adapt": adapt.agents,
    "adapt folds": adapt.folds,
    "adapt heard": adapt.answer_value_table,
    "adapt remembering": partial(adapt.remembering, "remembering"),
    "adapt remembering, a model": partial(adapt.remembering, "remembering_fold_0"),
    "adapt remembering, breakfast": partial(adapt.remembering, "remembering_breakfast"),
    "adapt scripted": partial(adapt.cooks, "scripted"),
    "adapt warm-ups": partial(adapt.cooks, "warm_ups"),
    "stars completion": partial(stars.conditions, "completion_percent"),
    "stars held out": partial(stars.conditions, "held_out_percent"),
    "stars oversight": stars.oversight,
    "stars selecting": stars.selecting,
}
"""How each table is drawn, by the name that a mark says."""
