"""Lessons in goals: what a model is to write when it is asked for one, and which of several it is to choose.

Every right goal is one that the robot understands, sees and can do, and that the person of the task says yes to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from housewise.agent.stars.analysis import GoalAnalyser
from housewise.agent.stars.data_files import TASKS, load_robot, load_task, load_vocabulary
from housewise.agent.stars.goal_grammar import GoalGrammar, GoalLanguage
from housewise.agent.stars.oversight import GoalQuestion, SimulatedUser
from housewise.agent.stars.prompts import StarsPrompts, load_prompts
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.viable_goals import list_viable_goals
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.core.errors import UserError
from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.stars.households import household, load_households
from housewise.selftrain.stars.settings import GoalLessons
from housewise.selftrain.stars.share import developers_share
from housewise.systems.stars.settings import StarsAgentSettings, StarsSettings


@dataclass(frozen=True)
class Case:
    """An object of a task, and what may be said of it.

    Attributes:
        task, about: which.
        analyser: tells what is viable.
    """

    task: StarsTask
    about: TaskObject
    analyser: GoalAnalyser

    @cached_property
    def judged(self) -> dict[str, bool]:
        """Viable goals, and whether the person says yes to them."""
        person, situation = SimulatedUser(self.task), self.task.situation.with_focus(self.about.thing)
        return {
            goal: person.confirms(GoalQuestion(self.about, goal, self.analyser.analyse(goal, situation)))
            for goal in list_viable_goals(self.task, self.about, self.analyser)
        }

    def goals(self, right: bool) -> list[str]:
        """Those to which the person says yes, or those to which they say no."""
        return [goal for goal, yes in self.judged.items() if yes == right]


class Lessons:
    """The lessons of a run's settings; the same settings make the same ones.

    Args:
        run: how models are asked; its seed is that of everything that is drawn.
        lessons: how many of which kind.

    Raises:
        UserError: when data that they name cannot be read, or do not fit.
    """

    def __init__(self, run: StarsSettings, lessons: GoalLessons) -> None:
        self._agent, self._lessons, self._seed = run.agent, lessons, run.tasks.seed
        self._prompts = load_prompts(run.agent.prompt)
        self._parts = load_households(lessons.households)

    def pairs(self) -> Iterator[Pair]:
        """All lessons: first goals to write, then goals to choose."""
        goals, choices = self._taught()
        for number, case in enumerate(goals):
            yield self._written(case, np.random.default_rng([self._seed, 2, number]), number)
        for number, case in enumerate(choices):
            yield from self._chosen(case, np.random.default_rng([self._seed, 4, number]), number)

    def examples(self) -> dict[str, list[str]]:
        """Where the things of all lessons belong, by what is seen of them: what there is to know, without a model."""
        found: dict[str, list[str]] = {}
        for case in chain(*self._taught()):
            places = found.setdefault(case.about.seen, [])
            places += [place for place in case.about.wanted if place not in places]
        return found

    def cases(self) -> list[Case]:
        """Objects of generated rooms, and of the packaged tasks those of the developers' share."""
        analysers = _Analysers(self._agent)
        found = []
        for number in range(self._lessons.rooms):
            seed = (self._seed, 0, number)
            task, words = household(self._parts, analysers.vocabulary, self._lessons.things, seed)
            found += [Case(task, about, analysers.of(words)) for about in task.objects]
        for name in TASKS if self._lessons.shared else ():
            task, words = load_task(name, analysers.vocabulary)
            share, analyser = developers_share(task), analysers.of(words)
            shared = [Case(task, about, analyser) for about in task.objects if about.thing.noun in share]
            found += shared * self._lessons.shared
        return found

    def _taught(self) -> tuple[list[Case], list[Case]]:
        """Of which a goal is written, and of which one is chosen."""
        cases, lessons = self.cases(), self._lessons
        return list(self._drawn(cases, lessons.goals, 1)), list(self._drawn(cases, lessons.choices, 3))

    def _drawn(self, cases: Sequence[Case], most: int, stream: int) -> Iterator[Case]:
        """So many cases at random, each once before any comes again."""
        rng = np.random.default_rng([self._seed, stream])
        while most > 0 and cases:
            for index in rng.permutation(len(cases))[:most]:
                yield cases[index]
            most -= len(cases)

    def _written(self, case: Case, rng: np.random.Generator, number: int) -> Pair:
        """The prompt that asks for a goal, and a right one behind the words that it begins with."""
        about, right = case.about, case.goals(right=True)
        lead = self._agent.lead.format(name=about.thing.noun, are="are" if about.plural else "is")
        goal = right[rng.integers(len(right))]
        if not goal.startswith(lead):
            raise UserError(
                f"setting run.lead: goals that are learned begin otherwise ({goal[: len(lead)]!r}); leave it out"
            )
        prompt = self._prompts.for_goal(case.task, about)
        rest = goal.removeprefix(lead)
        return Pair(
            prompt=(),
            prefix=f"{prompt} {lead}" if lead else prompt,
            reply=rest if lead else f" {rest}",
            scene=case.task.name,
            episode=number,
        )

    def _chosen(self, case: Case, rng: np.random.Generator, number: int) -> Iterator[Pair]:
        """A numbered question with one right option, with its options turned in several ways."""
        right, wrong = case.goals(right=True), case.goals(right=False)
        few, many = self._lessons.options
        count = min(int(rng.integers(few, many + 1)) - 1, len(wrong))
        options = [right[rng.integers(len(right))], *(wrong[index] for index in rng.permutation(len(wrong))[:count])]
        best, order = options[0], [options[index] for index in rng.permutation(len(options))]
        for turn in rng.permutation(len(order))[: self._lessons.rotations]:
            shown = order[turn:] + order[:turn]
            yield Pair(
                prompt=(),
                prefix=_question(self._prompts, case, shown),
                reply=f" {shown.index(best) + 1}",
                scene=case.task.name,
                episode=number,
                run=int(turn),
            )


def _question(prompts: StarsPrompts, case: Case, options: Sequence[str]) -> str:
    """A question as a model that goes on with texts reads it; see LocalContinuer.answer."""
    return f"{prompts.selection.told(False)}\n{prompts.for_selection(case.task, case.about, options)}"


class _Analysers:
    """The robot's understanding of tasks, by the data that settings name."""

    def __init__(self, agent: StarsAgentSettings) -> None:
        self.vocabulary = load_vocabulary(agent.vocabulary)
        self._grammar, self._robot = GoalGrammar.load(agent.grammar), load_robot(agent.robot)

    def of(self, words: RobotVocabulary) -> GoalAnalyser:
        """That of a task with these words."""
        return GoalAnalyser(GoalLanguage(words, self._grammar), self._robot)
