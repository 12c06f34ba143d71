"""Plays the paper's runs again: recorded retrieval and choices through our analysis, user, execution and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.experiment_conditions import CONDITIONS, StarsCondition
from housewise.agent.stars.lessons import GoalQuestion, StatedGoal, UserDialogue
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.planning import plan_goal, simulate_actions
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.console import print_note
from housewise.experiments.measured_values import MeasuredValue
from housewise.experiments.stars.breakdown import CATEGORIES, Category, category, published_category
from housewise.experiments.stars.recorded import Calls, HumanGoal, Line, Recordings, Response
from housewise.worlds.kitchen.state import State

Analysed = Sequence[tuple[Response, GoalAnalysis]]
Choose = Callable[[TaskObject, Analysed], GoalAnalysis | None]
"""Selects the goal to use for an object in place of the recorded choice."""

_USAGE = ("calls", "prompt_tokens", "completion_tokens", "total_tokens")


@dataclass
class Outcome:
    """One condition of one task, played again.

    Attributes:
        expected: The figures that the recordings' ``expected.json`` has.
        further: The user's words, categories by their definition, and agreement with the recorded analysis.
        differences: Where we differ from what was recorded, a line each.
    """

    expected: dict[str, Any]
    further: dict[str, Any]
    differences: list[str] = field(default_factory=list)

    def check(self, task: str, condition: str, expected: dict[str, Any]) -> list[str]:
        """Return all differences from what was recorded, and from the expected figures."""
        wrong = [
            f"{task}, {condition}: {figure} is {self.expected.get(figure)}, expected {value}"
            for figure, value in expected.items()
            if _without_zeros(value) != _without_zeros(self.expected.get(figure))
        ]
        return [*self.differences, *wrong]


def replay_condition(recordings: str, condition: str) -> Iterator[MeasuredValue]:
    """Replay one condition of all recorded tasks, and count differences from what was recorded.

    Args:
        recordings: Folder of recorded responses.
        condition: Condition by name.
    """
    recorded = Recordings(Path(recordings))
    expected = recorded.expected_figures()
    for task in recorded.tasks:
        lines = [line for line in recorded.lines(task) if line.condition == condition]
        outcome = replay_task(recorded, task, condition, lines)
        differences = outcome.check(task, condition, expected.get(task, {}).get(condition, {}))
        for difference in differences:
            print_note(difference)
        yield MeasuredValue(task, 0, "differences", len(differences))
        for name, value in (outcome.expected | outcome.further).items():
            if name in ("figure6", "categories"):
                prefix = "published " if name == "figure6" else ""
                yield from (MeasuredValue(task, 0, f"{prefix}{each}", value.get(each, 0)) for each in CATEGORIES)
            elif name != "kinds":
                weight = outcome.expected["responses"] if name.endswith("_agreement") else 1.0
                yield MeasuredValue(task, 0, name, value, weight)


def replay_task(
    recordings: Recordings, task: str, condition: str, lines: Sequence[Line], choose: Choose | None = None
) -> Outcome:
    """Replay one condition of a recorded task.

    Args:
        recordings: The recordings.
        task: Task by name.
        condition: Condition by name.
        lines: Recorded lines of task and condition.
        choose: Selects goals in place of the recorded choice.
    """
    analyser = recordings.analyser(task)
    room = recordings.task(task, analyser.language.vocabulary)
    return RecordedReplay(room, analyser, CONDITIONS[condition], choose).play(lines)


class RecordedReplay:
    """Plays one condition of one task again, object by object in the recorded order.

    Args:
        task: with the objects of both shares.
        analyser: with the words of the published agent.
        condition: what was at work.
        choose: picks the goal to use in place of the recorded choice, for conditions without a user.
    """

    def __init__(
        self, task: StarsTask, analyser: GoalAnalyser, condition: StarsCondition, choose: Choose | None = None
    ) -> None:
        self._task, self._analyser, self._condition, self._choose = task, analyser, condition, choose
        self._user = SimulatedUser(task)
        self._state: State = task.start()
        self._dialogue = UserDialogue(list(task.instructions))
        self._sourced = self._used_viable = 0
        self._differences: list[str] = []
        self._analyses: list[tuple[Response, TaskObject, GoalAnalysis]] = []

    def play(self, lines: Sequence[Line]) -> Outcome:
        """Play all objects of some recorded lines of this condition."""
        objects = [self._task[name] for name in dict.fromkeys(line.object for line in lines)]
        for about in objects:
            self._object(about, [line for line in lines if line.object == about.thing.name])
        return self._outcome(objects, [line for line in lines if isinstance(line, Calls)])

    def _object(self, about: TaskObject, lines: Sequence[Line]) -> None:
        situation = self._task.situation.with_focus(about.thing)
        analysed = [
            (line, self._analyser.analyse(line.text, situation)) for line in lines if isinstance(line, Response)
        ]
        self._analyses += [(response, about, analysis) for response, analysis in analysed]
        chosen = self._confirmed_goal(about, analysed) if self._condition.user else self._selected_goal(about, analysed)
        if chosen is not None:
            self._used_viable += chosen.viable
            self._sourced += self._pursue(chosen)
        for line in lines:
            if isinstance(line, HumanGoal):
                if chosen is not None:
                    self._differs(about, "a goal was stated though one had been confirmed")
                self._dialogue.goal(StatedGoal(line.text))
                self._pursue(self._stated_goal(about, line.text))

    def _selected_goal(self, about: TaskObject, analysed: Analysed) -> GoalAnalysis | None:
        """The goal that is used without a user: our own choice where it is by rank, else the recorded one."""
        if self._choose is not None:
            return self._choose(about, analysed)
        used = next((pair for pair in analysed if pair[0].used), None)
        if self._condition.choice == "likeliest" and not self._condition.repairs:
            ours = min(analysed, key=lambda pair: pair[0].rank or len(analysed) + 1, default=None)
            if ours is not None and used is not None and ours[0] != used[0]:
                self._differs(about, f"we take {ours[0].text!r}, recorded was {used[0].text!r}")
            used = ours
        return used[1] if used else None

    def _confirmed_goal(self, about: TaskObject, analysed: Analysed) -> GoalAnalysis | None:
        """The goal that the simulated user confirms, of those that were put to the user, in the recorded order."""
        offers = sorted(
            ((response.offered, response, analysis) for response, analysis in analysed if response.offered),
            key=lambda offer: offer[0].order,
        )
        for offered, response, analysis in offers:
            confirmed = self._user.confirms(GoalQuestion(about, response.text, analysis))
            self._dialogue.answer(confirmed)
            if confirmed != (offered.answer == "yes"):
                self._differs(about, f"the simulated user answers otherwise to {response.text!r}")
            if confirmed != response.used:
                self._differs(
                    about, f"{response.text!r} is {'used' if confirmed else 'not used'}, otherwise than recorded"
                )
            if confirmed:
                return analysis
        return None

    def _stated_goal(self, about: TaskObject, text: str) -> GoalAnalysis:
        statement = self._analyser.language.statement(text)
        if statement is None or statement.name != about.thing.noun:
            self._differs(about, f"the user's goal is not understood: {text!r}")
            return GoalAnalysis()
        analysis = self._analyser.check(statement.clauses, self._task.situation.with_focus(about.thing))
        if not self._user.confirms(GoalQuestion(about, text, analysis)):
            self._differs(about, f"the simulated user would not have stated {text!r}")
        return analysis

    def _pursue(self, analysis: GoalAnalysis) -> bool:
        """Carry a goal out; tells whether there was something to do that could be done."""
        path = plan_goal(analysis, self._state)
        self._state = simulate_actions(self._state, path or ())
        return bool(path)

    def _outcome(self, objects: Sequence[TaskObject], calls: Sequence[Calls]) -> Outcome:
        done = self._task.completion(self._state, objects)
        published = [
            (about.thing.name, published_category(analysis, response.text, about, self._task))
            for response, about, analysis in self._analyses
        ]
        kinds = Counter(analysis.kind.value for _, _, analysis in self._analyses if analysis.kind)
        expected = {
            "objects": len(objects),
            "responses": len(self._analyses),
            "viable": sum(analysis.viable for _, _, analysis in self._analyses),
            "kinds": dict(kinds),
            "figure6": dict(Counter(category for _, category in published)),
            "objects_with_a_relevant_response": len(
                {name for name, category in published if category == Category.RELEVANT.value}
            ),
            "used_viable": self._used_viable,
            "human_goals": self._dialogue.stated,
            "offered": self._dialogue.questions,
            "yes": self._dialogue.yes,
            "in_place": done.in_place,
            "fixtures_closed": done.closed,
            "fixtures": done.fixtures,
            "completion_percent": round(done.percent, 1),
            **{name: sum(getattr(line, name) for line in calls) for name in _USAGE},
        }
        further = {
            "sourced": self._sourced,
            "instructions": len(self._dialogue.turns),
            "words": self._dialogue.words,
            "categories": dict(Counter(category(analysis, about) for _, about, analysis in self._analyses)),
            **_agreement(self._analyses),
        }
        return Outcome(expected, further, self._differences)

    def _differs(self, about: TaskObject, what: str) -> None:
        self._differences.append(f"{self._task.name}, {self._condition.name}, {about.thing.name}: {what}")


def _agreement(analyses: Sequence[tuple[Response, TaskObject, GoalAnalysis]]) -> dict[str, float]:
    """Return the share of responses on which our analysis agrees with the recorded one."""

    def mismatches(analysis: GoalAnalysis) -> set[tuple[str, str | None, str | None]]:
        return {(found.kind.value, found.what, found.thing) for found in analysis.mismatches}

    agrees = [
        (
            analysis.viable == response.viable,
            (analysis.kind.value if analysis.kind else None) == response.kind,
            mismatches(analysis) == {(found.kind, found.what, found.object) for found in response.mismatches},
        )
        for response, _, analysis in analyses
    ]
    names = ("viable_agreement", "kind_agreement", "set_agreement")
    return {name: fmean(each) for name, each in zip(names, zip(*agrees, strict=True), strict=False)}


def _without_zeros(figure: Any) -> Any:
    """Return a figure, or counts without those that are 0."""
    return {name: count for name, count in figure.items() if count} if isinstance(figure, dict) else figure
