"""Reads plans in whatever form models write them, an addition to the paper's parser (``plan_parser``)."""

from __future__ import annotations

from housewise.agent.personalize.plan_parser import ParsedPlan, ParsedStep, PlanForm, parse_plan, parse_step
from housewise.agent.personalize.step_phrasing import canonical_steps
from housewise.agent.personalize.step_splitter import split_into_steps
from housewise.worlds.house.name_resolution import Vocabulary

ANY = PlanForm(split_into_steps, canonical_steps, counts_other_lines=True)
"""Plans in any form: lists, tables, JSON, calls, sentences, and other verbs."""


def parse_any_plan(reply: str, vocabulary: Vocabulary, most: int | None = None) -> ParsedPlan:
    """Parse a reply in any form; see ``parse_plan``."""
    return parse_plan(reply, vocabulary, most, ANY)


def parse_any_step(line: str, vocabulary: Vocabulary) -> ParsedStep:
    """Parse one step in any phrasing; see ``parse_step``."""
    return parse_step(line, vocabulary, ANY)
