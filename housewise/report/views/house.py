"""Shows episodes of LLM-Personalize in houses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from housewise.core.formatting import plural
from housewise.core.record import Header, Record, Result
from housewise.playback.object_outcomes import list_object_outcomes
from housewise.report.views.base import EpisodeContent, EpisodeView, InitialFact, SaveFilm, ScoreCell, score_cell
from housewise.systems.personalize.record import HouseRecord, describe_continued_search
from housewise.worlds.house.simulator import SimulatorChoice

_OWN = ("success_rate", "executability", "unique_placements", "plans", "steps")


class HouseView(EpisodeView):
    """View of LLM-Personalize; see `EpisodeView`."""

    explanation = (
        "Success rate: (correct at the end − correct at the start) ÷ misplaced at the start, mean ± standard error "
        "over tasks. The other numbers are means of an episode; executable is the share of all planned actions that "
        "succeeded. Steps the model chose are those of plans that it wrote freely or chose among several; the others "
        "follow from its judgements alone, or a helper for small models did them. Pictures are traced again from the "
        "recorded actions; objects are stand-ins of their true size."
    )
    state_heading = "in place, start → end"
    has_pictures = True

    def __init__(self) -> None:
        super().__init__("personalize")
        # Records may lack scores without a column of their own.
        self._further = [score for score in self._scores if score.name not in _OWN and not score.total]
        self.score_heading = "success rate"
        self.columns = ["plans", "steps", "actions executed", *(score.heading for score in self._further)]

    def title(self, header: Header) -> str:
        """See `EpisodeView`."""
        initial_state = header.initial_state
        return f"{initial_state.get('scene')} · episode {initial_state.get('episode')} · run {header.repetition}"

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See `EpisodeView`: misplaced objects by outcome."""
        outcomes = list_object_outcomes(HouseRecord.from_record(record, path))
        return Counter(outcome.description for outcome in outcomes if not outcome.is_correct)

    def describe_state(self, result: Result) -> str:
        """See `EpisodeView`."""
        start, end, objects = (round(result.scores[key]) for key in ("correct_start", "correct_end", "objects"))
        return f"{start} → {end} of {objects}"

    def state_sort_value(self, result: Result) -> float:
        """See `EpisodeView`."""
        return result.scores["correct_end"] - result.scores["correct_start"]

    def cells(self, result: Result) -> list[ScoreCell]:
        """See `EpisodeView`."""
        plans, steps, done, actions = (round(result.scores[key]) for key in ("plans", "steps", "succeeded", "actions"))
        own = [ScoreCell(str(plans), plans), ScoreCell(str(steps), steps), ScoreCell(f"{done} of {actions}", done)]
        return [*own, *(score_cell(score, result) for score in self._further)]

    def is_perfect(self, result: Result) -> bool:
        """See `EpisodeView`: whether every object ended on a correct receptacle."""
        return result.scores["correct_end"] == result.scores["objects"]

    def describe_ending(self, header: Header, result: Result) -> str:
        """See `EpisodeView`. A planner may use up its steps searching for more objects when all are in place."""
        counted = {key: round(result.scores[key]) for key in ("plans", "steps", "objects", "correct_end")}
        plans = plural(counted["plans"], "plan")
        agent: Any = header.settings.get("agent")
        spent = isinstance(agent, dict) and counted["plans"] == agent.get("max_plans", agent.get("most_plans"))
        wrong = counted["objects"] - counted["correct_end"]
        if looked := describe_continued_search(result):
            return looked
        state = "all in place" if wrong == 0 else f"{wrong} of {counted['objects']} out of place"
        means = {
            "complete": "the planner took it as done",
            "out of steps": f"used all {counted['steps']} steps",
            "out of plans": f"used all {plans}" if spent else f"stopped after {plans}, the last ones without a step",
        }
        return f"{state}; {means.get(result.end_reason, result.end_reason)}"

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """See `EpisodeView`: where each object stood and where it is wanted."""
        placements, correct = header.initial_state.get("placements"), header.initial_state.get("correct")
        if not isinstance(placements, dict) or not isinstance(correct, dict):
            return []
        # Records of failed episodes are not checked before.
        wanted = {thing: places for thing, places in correct.items() if isinstance(places, list)}
        return [
            InitialFact(
                "right" if place in wanted.get(thing, []) else "wrong",
                str(thing),
                f"{place}; wanted on {', '.join(map(str, wanted.get(thing, []))) or 'nothing here'}",
            )
            for thing, place in placements.items()
        ]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> EpisodeContent:
        """See `EpisodeView`: map and plans, and pictures and a film on request."""
        # Drawing and filming libraries take long to import.
        from housewise.report.views.house_page import make_house_content

        ending, is_perfect = self.describe_ending(record.header, record.result), self.is_perfect(record.result)
        return make_house_content(
            number, HouseRecord.from_record(record, path), simulator, save_film, ending, is_perfect
        )
