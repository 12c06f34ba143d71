"""The tables of README and docs, each drawn from files of results by a function of its own."""

from __future__ import annotations

from housewise.experiments.documents.marks import Drawn
from housewise.experiments.documents.results_page import draw_results

TABLES: dict[str, Drawn] = {
    "all results": draw_results,
}
"""How each table is drawn, by the name that a mark says."""
