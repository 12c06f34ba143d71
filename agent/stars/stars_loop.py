"""The loop of STARS for one object: retrieve, analyse, repair, select, confirm, plan, act, learn.

A known goal is recalled and needs none of these steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from housewise.agent.stars.analysis import GoalAnalyser, GoalAnalysis
from housewise.agent.stars.experiment_conditions import StarsCondition
from housewise.agent.stars.goal_memory import (
    GoalGeneralisation,
    LearnedGoal,
    RecalledGoal,
    keep_latest,
    learn_goal,
    recall_goal,
)
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.oversight import (
    MAX_QUESTIONS,
    YES,
    GoalQuestion,
    GoalRequest,
    UserDialogue,
    analyse_stated_goal,
)
from housewise.agent.stars.planning import goal_state, plan_actions
from housewise.agent.stars.repair import GoalCandidate, repair_candidates
from housewise.agent.stars.retrieval import GoalRetriever, RetrievalConfig
from housewise.agent.stars.search_tree import RetrievedGoal, RetrievedTexts
from housewise.agent.stars.selection import GoalSelection, GoalSelector, LikeliestSelector
from housewise.agent.stars.tasks import StarsTask, TaskCompletion, TaskObject
from housewise.worlds.kitchen.manipulation import ManipulationAction
from housewise.worlds.kitchen.state import State

MAX_OPTIONS = 40
"""Maximum number of goals for one selection. Of more goals the most probable ones are used."""


@dataclass(frozen=True)
class GoalsRetrieved:
    """The result of asking a model for goals once.

    Attributes:
        candidates: New goals with their analyses.
        mends: Goal that they are to replace, or None for goals of the first prompt.
    """

    candidates: tuple[GoalCandidate, ...]
    mends: GoalCandidate | None = None


LearningEvent = GoalsRetrieved | GoalSelection | GoalQuestion | GoalRequest
"""One step of learning a goal. A GoalQuestion or GoalRequest waits for the user's answer."""
LearningSteps = Generator[LearningEvent, str | None, "ObjectLesson"]
"""Generator of the steps for one object. It receives the user's answers and returns the lesson."""


class EarlierModelReplies(Protocol):
    """Replies of models from attempts that were interrupted. Models are not asked for them again."""

    def find_goals(
        self, about: TaskObject, mends: GoalCandidate | None, usage: ModelUsage
    ) -> list[RetrievedGoal] | None:
        """Return the earlier retrieved or repaired goals, or None if there are none. Adds their usage to ``usage``."""

    def find_selection(
        self, about: TaskObject, pool: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection | None:
        """Return the earlier selection among candidates, or None if there is none. Adds its usage to ``usage``."""


@dataclass(frozen=True)
class ObjectLesson:
    """Everything that happened with one object, enough to count, show and replay it.

    Attributes:
        about: The object.
        recalled: The recalled goal, or None. With a recalled goal nobody was asked.
        candidates: Retrieved goals with their analyses and parents.
        choices: The selections, one per goal that was put to use or to the user.
        answers: The user's yes or no to goals, in order.
        stated: Goal that the user stated, or None.
        used: Analysis of the goal that was used, or None.
        path: Actions of the plan, or None if there is no plan.
        learned: Goal that was learned, or None.
    """

    about: TaskObject
    recalled: RecalledGoal | None = None
    candidates: tuple[GoalCandidate, ...] = ()
    choices: tuple[GoalSelection, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()
    stated: str | None = None
    used: GoalAnalysis | None = None
    path: tuple[ManipulationAction, ...] | None = None
    learned: LearnedGoal | None = None

    @property
    def uses_model_goal(self) -> bool:
        """Whether the used goal came from the model, was viable and was not true already."""
        return self.recalled is None and self.stated is None and bool(self.path)


@dataclass(frozen=True)
class StarsEpisode:
    """One task under one condition.

    Attributes:
        lessons: Lessons in the order of the objects.
        dialogue: Everything that the user said.
        usage: Model usage.
        completion: How much of the task is done.
    """

    lessons: tuple[ObjectLesson, ...]
    dialogue: UserDialogue
    usage: ModelUsage
    completion: TaskCompletion


class GoalLearner:
    """Learns goals for the objects of a task, and plans how to achieve them.

    Args:
        task: The task.
        analyser: Analyses goal sentences.
        condition: Which parts of STARS are active.
        retrieval: How a model is asked for goals.
        selector: Selects among goals. Defaults to the most probable goal.
        known_goals: Goals learned earlier.
        generalisation: How far learned goals are generalised.
        max_questions: Maximum number of goals per object that are put to the user.
        earlier_replies: Replies of models from interrupted attempts, or None.
    """

    def __init__(
        self,
        task: StarsTask,
        analyser: GoalAnalyser,
        condition: StarsCondition,
        retrieval: RetrievalConfig,
        *,
        selector: GoalSelector | None = None,
        known_goals: Iterable[LearnedGoal] = (),
        generalisation: GoalGeneralisation | None = None,
        max_questions: int = MAX_QUESTIONS,
        earlier_replies: EarlierModelReplies | None = None,
    ) -> None:
        self._task, self._analyser, self._condition = task, analyser, condition
        self._retriever = GoalRetriever(task, analyser, condition, retrieval)
        self._max_questions, self._earlier_replies = max_questions, earlier_replies
        self._selector = selector if selector and condition.choice != "likeliest" else LikeliestSelector()
        self.known = keep_latest(known_goals)
        self._generalisation = generalisation
        self.usage = ModelUsage()
        self.dialogue = UserDialogue()

    def recall(self, about: TaskObject, state: State) -> RecalledGoal | None:
        """Return the learned goal for an object, or None."""
        return recall_goal(self.known, self._task, about, state, self._analyser, self._generalisation)

    def learn_object(self, about: TaskObject, state: State) -> LearningSteps:
        """Find out where one object belongs and plan how to get it there.

        Yields:
            The steps. The user's answer to a GoalQuestion or GoalRequest has to be sent to the generator.

        Returns:
            The lesson.
        """
        known = self.recall(about, state)
        if known is not None:
            return ObjectLesson(about, recalled=known, used=known.analysis, path=known.path)
        candidates: list[GoalCandidate] = []
        for brought in self._retrieve_and_repair(about):
            candidates += brought.candidates
            yield brought
        choices: list[GoalSelection] = []
        answers: list[tuple[str, bool]] = []
        stated, used = None, None
        if self._condition.user:
            used = yield from self._confirm_goal(about, candidates, choices, answers)
            if used is None:
                stated, used = yield from self._request_goal(about)
        elif pool := self._selectable_goals(candidates):
            choices.append(self._select(about, pool))
            used = choices[0].candidate.analysis
            yield choices[0]
        path = self._plan(used, state)
        learned = None
        if used is not None and path is not None:
            confirmed = stated is not None or any(answer for _, answer in answers)
            learned = learn_goal(self._task, about, used, path, confirmed, self._analyser.language.vocabulary)
            self.known = keep_latest([*self.known, learned])
        return ObjectLesson(about, None, tuple(candidates), tuple(choices), tuple(answers), stated, used, path, learned)

    def _retrieve_and_repair(self, about: TaskObject) -> Iterator[GoalsRetrieved]:
        """Yield goals for an object: retrieved, analysed and, depending on the condition, repaired."""
        retriever, seen, before = self._retriever, RetrievedTexts(about.thing.noun), self.usage.copy()

        def analyse(text: str) -> GoalAnalysis:
            return self._analyser.analyse(text, self._task.situation.with_focus(about.thing))

        def ask(wrong: GoalCandidate | None) -> list[RetrievedGoal]:
            told = self._earlier_replies.find_goals(about, wrong, self.usage) if self._earlier_replies else None
            if told is not None:
                seen.texts.update(response.text for response in told)
                return told
            if wrong is None:
                return retriever.goals(about, seen, self.usage)
            return retriever.retrieve_repairs(about, wrong, seen, self.usage)

        first = [GoalCandidate(response, analyse(response.text)) for response in ask(None)]
        yield GoalsRetrieved(tuple(first))
        if not self._condition.repairs:
            return
        for wrong, found in repair_candidates(first, ask, analyse):
            yield GoalsRetrieved(tuple(found), wrong)
            # The limit of calls of one tree applies to all trees of an object, because a model may never stop.
            if sum(self.usage.since(before).calls.values()) >= retriever.max_calls:
                return

    def _selectable_goals(self, candidates: Sequence[GoalCandidate]) -> list[GoalCandidate]:
        """Return the goals that may be used. Conditions with repair use viable goals only."""
        return [each for each in candidates if each.analysis.viable or not self._condition.repairs]

    def _select(self, about: TaskObject, pool: Sequence[GoalCandidate]) -> GoalSelection:
        best = sorted(pool, key=lambda each: -each.response.probability)[:MAX_OPTIONS]
        options = [each for each in pool if each in best] if len(pool) > MAX_OPTIONS else pool
        told = self._earlier_replies.find_selection(about, options, self.usage) if self._earlier_replies else None
        return told or self._selector.select(self._task, about, options, self.usage)

    def _confirm_goal(
        self,
        about: TaskObject,
        candidates: Sequence[GoalCandidate],
        choices: list[GoalSelection],
        answers: list[tuple[str, bool]],
    ) -> Generator[LearningEvent, str | None, GoalAnalysis | None]:
        """Return the first goal that the user confirms. None when questions or goals run out."""
        pool = self._selectable_goals(candidates)
        while pool and len(answers) < self._max_questions:
            choices.append(self._select(about, pool))
            yield choices[-1]
            candidate = choices[-1].candidate
            pool.remove(candidate)
            yes = (yield GoalQuestion(about, candidate.text, candidate.analysis)) == YES
            answers.append((candidate.text, yes))
            self.dialogue.answer(yes)
            if yes:
                return candidate.analysis
        return None

    def _request_goal(self, about: TaskObject) -> Generator[LearningEvent, str | None, tuple[str, GoalAnalysis | None]]:
        """Return the goal that the user states and its analysis. The analysis is None if it is not understood."""
        sentence = (yield GoalRequest(about)) or ""
        self.dialogue.goal(sentence)
        return sentence, analyse_stated_goal(sentence, about, self._analyser, self._task)

    def _plan(self, used: GoalAnalysis | None, state: State) -> tuple[ManipulationAction, ...] | None:
        goal = goal_state(used) if used is not None and used.viable else None
        return plan_actions(state, goal) if goal is not None else None
