"""Plays the paper's runs again: recorded retrieval and choices through our analysis, user, execution and scores.

``python -m housewise.experiments.stars.replay --data FOLDER --json OUT``
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.experiment_conditions import CONDITIONS, StarsCondition
from housewise.agent.stars.lessons import GoalQuestion, UserDialogue
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.planning import goal_state, plan_actions, simulate_actions
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.experiments.stars.breakdown import Category, category, published_category
from housewise.experiments.stars.recorded import Calls, HumanGoal, Recordings, Response
from housewise.worlds.kitchen.state import State

Analysed = Sequence[tuple[Response, GoalAnalysis]]
Choose = Callable[[TaskObject, Analysed], GoalAnalysis | None]

_USAGE = ("calls", "prompt_tokens", "completion_tokens", "total_tokens")


@dataclass
class Outcome:
    """One condition of one task, played again.

    Attributes:
        expected: the figures that the recordings' ``expected.json`` has.
        further: the user's words, and the categories by their definition, which it does not have.
        differences: where we do not do what was recorded, a line each.
    """

    expected: dict[str, Any]
    further: dict[str, Any]
    differences: list[str] = field(default_factory=list)


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

    def play(self, lines: Sequence[Response | HumanGoal | Calls]) -> Outcome:
        """Play all objects of some recorded lines of this condition."""
        objects = [self._task[name] for name in dict.fromkeys(line.object for line in lines)]
        for about in objects:
            self._object(about, [line for line in lines if line.object == about.thing.name])
        return self._outcome(objects, [line for line in lines if isinstance(line, Calls)])

    def _object(self, about: TaskObject, lines: Sequence[Response | HumanGoal | Calls]) -> None:
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
                self._dialogue.goal(line.text)
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
        goal = goal_state(analysis) if analysis.viable and analysis.clauses else None
        path = plan_actions(self._state, goal) if goal else None
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
        }
        return Outcome(expected, further, self._differences)

    def _differs(self, about: TaskObject, what: str) -> None:
        self._differences.append(f"{self._task.name}, {self._condition.name}, {about.thing.name}: {what}")


def replay(recordings: Recordings) -> dict[str, dict[str, Outcome]]:
    """Play all recorded conditions of all tasks again."""
    outcomes: dict[str, dict[str, Outcome]] = {}
    for name in recordings.tasks:
        analyser, lines = recordings.analyser(name), recordings.lines(name)
        task = recordings.task(name, analyser.language.vocabulary)
        outcomes[name] = {
            condition: RecordedReplay(task, analyser, CONDITIONS[condition]).play(
                [line for line in lines if line.condition == condition]
            )
            for condition in dict.fromkeys(line.condition for line in lines)
        }
    return outcomes


def differences(outcomes: dict[str, dict[str, Outcome]], expected: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """All figures that are not the expected ones, and all that we do otherwise than recorded."""
    found = [
        line for conditions in outcomes.values() for outcome in conditions.values() for line in outcome.differences
    ]
    for task, conditions in expected.items():
        for condition, figures in conditions.items():
            outcome = outcomes.get(task, {}).get(condition)
            ours = outcome.expected if outcome else {}
            for figure, value in figures.items():
                if (_counts(value) if isinstance(value, dict) else value) != (
                    _counts(ours.get(figure)) if isinstance(value, dict) else ours.get(figure)
                ):
                    found.append(f"{task}, {condition}: {figure} is {ours.get(figure)}, expected {value}")
    return found


def _counts(figures: Any) -> dict[str, int]:
    """Counts without those that are 0."""
    return {name: count for name, count in (figures or {}).items() if count}


def main(
    data: Annotated[Path, typer.Option(help="folder of recorded responses")],
    output: Annotated[Path, typer.Option("--json", callback=check_writable_file, help="file to write the figures to")],
) -> None:
    """Play the recorded runs again and compare with what is expected."""
    recordings = Recordings(data)
    outcomes = replay(recordings)
    wrong = differences(outcomes, recordings.expected_figures())
    figures = {
        "exact": not wrong,
        "differences": wrong,
        "figures": {
            task: {condition: outcome.expected | outcome.further for condition, outcome in conditions.items()}
            for task, conditions in outcomes.items()
        },
    }
    write_json(output, {**figures, **provenance()})
    typer.echo("exact" if not wrong else "\n".join(wrong))


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
