"""Lessons in goals: demonstrations of writing a right goal, and of choosing it among several.

Every right goal is one that the robot understands, sees and can achieve, and that the user of the task confirms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import TASKS, load_robot, load_task, load_vocabulary
from housewise.agent.stars.goal_grammar import GoalGrammar, GoalLanguage
from housewise.agent.stars.lessons import GoalQuestion
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.prompts import StarsPrompts, load_prompts
from housewise.agent.stars.search_tree import construct_goal_prompt
from housewise.agent.stars.stars_loop import construct_selection_prompt
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.viable_goals import list_viable_goals
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.core.errors import UserError
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.stars.held_out_objects import learnable_nouns
from housewise.selftrain.stars.room_generator import generate_room, load_room_parts
from housewise.selftrain.stars.settings import GoalLessonsConfig
from housewise.systems.stars.settings import StarsSettings


@dataclass(frozen=True)
class GoalCase:
    """An object of a task, and the goals that may be proposed for it.

    Attributes:
        task, about: The task and its object.
        analyser: Checks which goals are viable.
    """

    task: StarsTask
    about: TaskObject
    analyser: GoalAnalyser

    @cached_property
    def confirmations(self) -> dict[str, bool]:
        """Viable goals, and whether the user confirms each."""
        person, situation = SimulatedUser(self.task), self.task.situation.with_focus(self.about.thing)
        return {
            goal: person.confirms(GoalQuestion(self.about, goal, self.analyser.analyse(goal, situation)))
            for goal in list_viable_goals(self.task, self.about, self.analyser)
        }

    def goals(self, right: bool) -> list[str]:
        """Return the goals that the user confirms, or those that the user rejects."""
        return [goal for goal, yes in self.confirmations.items() if yes == right]


class GoalLessons:
    """The lessons that settings describe; equal settings give equal lessons.

    Args:
        run: Settings of the prompts and the robot; its seed is that of all random choices.
        lessons: Number of lessons of each kind.

    Raises:
        UserError: Data that the settings name cannot be read, or do not fit together.
    """

    def __init__(self, run: StarsSettings, lessons: GoalLessonsConfig) -> None:
        self._agent, self._lessons, self._seed = run.agent, lessons, run.tasks.seed
        self._prompts = load_prompts(run.agent.prompt)
        self._parts = load_room_parts(lessons.room_parts)

    def demonstrations(self) -> Iterator[EpisodeDemonstration]:
        """Yield all lessons: first goals to write, then goals to choose."""
        goals, choices = self._cases_by_lesson()
        for number, case in enumerate(goals):
            yield self._goal_demonstration(case, np.random.default_rng([self._seed, 2, number]), number)
        for number, case in enumerate(choices):
            yield from self._choice_demonstrations(case, np.random.default_rng([self._seed, 4, number]), number)

    def known_places(self) -> dict[str, list[str]]:
        """Return where the objects of all lessons belong, by their description.

        This is the knowledge in the lessons, for a baseline without a language model.
        """
        found: dict[str, list[str]] = {}
        for case in chain(*self._cases_by_lesson()):
            places = found.setdefault(case.about.description, [])
            places += [place for place in case.about.wanted if place not in places]
        return found

    @cached_property
    def cases(self) -> list[GoalCase]:
        """Objects of generated rooms, and the learnable objects of the bundled tasks."""
        agent, lessons = self._agent, self._lessons
        vocabulary, robot = load_vocabulary(agent.vocabulary), load_robot(agent.robot)
        grammar = GoalGrammar.load(agent.grammar)

        def cases_of(task: StarsTask, words: RobotVocabulary) -> list[GoalCase]:
            analyser = GoalAnalyser(GoalLanguage(words, grammar), robot)
            return [GoalCase(task, about, analyser) for about in task.objects]

        found: list[GoalCase] = []
        for number in range(lessons.rooms):
            found += cases_of(*generate_room(self._parts, vocabulary, lessons.things, (self._seed, 0, number)))
        for name in TASKS if lessons.task_object_repeats else ():
            task, words = load_task(name, vocabulary)
            share = learnable_nouns(task)
            shared = [case for case in cases_of(task, words) if case.about.thing.noun in share]
            found += shared * lessons.task_object_repeats
        return found

    def _cases_by_lesson(self) -> tuple[list[GoalCase], list[GoalCase]]:
        """Return the cases for goals to write, and those for goals to choose."""
        cases, lessons = self.cases, self._lessons
        return list(self._sample_cases(cases, lessons.goals, 1)), list(self._sample_cases(cases, lessons.choices, 3))

    def _sample_cases(self, cases: Sequence[GoalCase], number: int, stream: int) -> Iterator[GoalCase]:
        """Yield random cases, each once before any is repeated."""
        rng = np.random.default_rng([self._seed, stream])
        while number > 0 and cases:
            for index in rng.permutation(len(cases))[:number]:
                yield cases[index]
            number -= len(cases)

    def _goal_demonstration(self, case: GoalCase, rng: np.random.Generator, number: int) -> EpisodeDemonstration:
        """Return the prompt that asks for a goal, with a right goal after the words that it begins with."""
        about, right = case.about, case.goals(right=True)
        lead = self._agent.goal_prefix.format(name=about.thing.noun, are="are" if about.plural else "is")
        goal = right[rng.integers(len(right))]
        if not goal.startswith(lead):
            raise UserError(
                f"setting run.goal_prefix: goals in lessons begin differently ({goal[: len(lead)]!r}); leave it out"
            )
        prompt = construct_goal_prompt(self._prompts, case.task, about)
        rest = goal.removeprefix(lead)
        return EpisodeDemonstration(
            prompt=(),
            prefix=f"{prompt} {lead}" if lead else prompt,
            reply=rest if lead else f" {rest}",
            scene=case.task.name,
            episode=number,
        )

    def _choice_demonstrations(
        self, case: GoalCase, rng: np.random.Generator, number: int
    ) -> Iterator[EpisodeDemonstration]:
        """Yield a numbered question with one right option, with its options in several orders."""
        right, wrong = case.goals(right=True), case.goals(right=False)
        few, many = self._lessons.options
        count = min(int(rng.integers(few, many + 1)) - 1, len(wrong))
        options = [right[rng.integers(len(right))], *(wrong[index] for index in rng.permutation(len(wrong))[:count])]
        best, order = options[0], [options[index] for index in rng.permutation(len(options))]
        for turn in rng.permutation(len(order))[: self._lessons.max_orders]:
            shown = order[turn:] + order[:turn]
            yield EpisodeDemonstration(
                prompt=(),
                prefix=_choice_prompt(self._prompts, case, shown),
                reply=f" {shown.index(best) + 1}",
                scene=case.task.name,
                episode=number,
                run=int(turn),
            )


def _choice_prompt(prompts: StarsPrompts, case: GoalCase, options: Sequence[str]) -> str:
    """Return a question as a model that continues texts reads it; see LocalCompletionModel.answer."""
    question = construct_selection_prompt(prompts, case.task, case.about, options)
    return f"{prompts.selection.system_message(False)}\n{question}"
