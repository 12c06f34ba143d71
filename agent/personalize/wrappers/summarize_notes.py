"""SummarizeNotes: before its first plan, has the model conclude rules from all notes about the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.note_rules import RuleWords, summarize_notes
from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.agent.personalize.quoted_notes import QuoteWords
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.people.memory import RulesFile
from housewise.worlds.house.scene_graph import SceneGraph


class SummarizeNotes:
    """Adds rules to what is known of the person. The memory does not change during an episode.

    Args:
        planner: The wrapped planner.
        llm: The planner that asks the model. Its prompt has the rules.
        words, quotes: Texts of the request; see summarize_notes.
        file: File that keeps the rules, or None.
    """

    def __init__(
        self,
        planner: Planner,
        llm: HousewisePlanner,
        words: RuleWords,
        quotes: QuoteWords,
        file: RulesFile | None = None,
    ) -> None:
        self.name = planner.name
        self._planner, self._llm = planner, llm
        self._words, self._quotes, self._file = words, quotes, file
        self._is_done = False

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan. The first plan tells of the rules."""
        if self._is_done:
            return self._planner.plan(graph, attempts)
        known = self._llm.knowledge
        notes = known.general_notes(self._words.max_notes)
        summary = summarize_notes(self._llm.model, self._words, self._quotes, notes, self._file)
        known.rules, self._is_done = summary.rules, True
        plan = self._planner.plan(graph, attempts)
        return replace(plan, prior_calls=(*summary.calls, *plan.prior_calls), summary=summary)
