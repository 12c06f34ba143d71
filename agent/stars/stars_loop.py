"""STARS for one object: retrieve, analyse, repair, select, confirm, plan, act, learn; known goals need none of it."""

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
"""Goals among which one is selected; a model that goes on and on brings more, of which the likeliest are taken."""


@dataclass(frozen=True)
class GoalsRetrieved:
    """What asking a model once for goals brought.

    Attributes:
        candidates: new goals and what is made of them.
        mends: the goal that they are to replace; None for those of the first prompt.
    """

    candidates: tuple[GoalCandidate, ...]
    mends: GoalCandidate | None = None


LearningEvent = GoalsRetrieved | GoalSelection | GoalQuestion | GoalRequest
"""What happens while a goal is found; a question or a wish waits for what the user says."""
LearningSteps = Generator[LearningEvent, str | None, "ObjectLesson"]
"""How one object is learned, step by step."""


class EarlierModelReplies(Protocol):
    """What models were asked before a run was cut off: they are not asked again."""

    def brought(self, about: TaskObject, mends: GoalCandidate | None, usage: ModelUsage) -> list[RetrievedGoal] | None:
        """What came of asking for goals, or of a repair; None where that had not been asked. Usage is added."""
        ...

    def chosen(self, about: TaskObject, pool: Sequence[GoalCandidate], usage: ModelUsage) -> GoalSelection | None:
        """What was selected among candidates; None where that had not been asked. Usage is added."""
        ...


@dataclass(frozen=True)
class ObjectLesson:
    """What happened with one object; enough to count, to show and to play it again.

    Attributes:
        about: the object.
        recalled: what was known; where there is something, nobody was asked.
        candidates: retrieved goals with their analyses and parents.
        choices: which goal was selected, once for each time that was needed.
        answers: the user's yes and no to goals, in order.
        stated: the goal that the user stated, None where none was needed.
        used: the analysis of the goal that was used, None where there was none.
        path: what was done; None where nothing could be done.
        learned: what was learned of it.
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
        """Whether a goal of the model's was used that was viable and not true already."""
        return self.recalled is None and self.stated is None and bool(self.path)


@dataclass(frozen=True)
class StarsEpisode:
    """One task under one condition.

    Attributes:
        lessons: in the order of work.
        dialogue: all that the user said.
        usage: what models were asked.
        completion: how much of the task is done.
    """

    lessons: tuple[ObjectLesson, ...]
    dialogue: UserDialogue
    usage: ModelUsage
    completion: TaskCompletion


class GoalLearner:
    """Learns goals for the objects of a task, and how to bring them about.

    Args:
        task: what there is.
        analyser: the robot's understanding.
        condition: which parts are at work.
        retrieval: how a model is asked for goals.
        selector: chooses among goals; None for the likeliest.
        known: goals that have been learned.
        carry: how far known goals are carried over.
        questions: how many goals of an object are put to the user at most.
        earlier: what models were asked before; None for nothing.
    """

    def __init__(
        self,
        task: StarsTask,
        analyser: GoalAnalyser,
        condition: StarsCondition,
        retrieval: RetrievalConfig,
        *,
        selector: GoalSelector | None = None,
        known: Iterable[LearnedGoal] = (),
        carry: GoalGeneralisation | None = None,
        questions: int = MAX_QUESTIONS,
        earlier: EarlierModelReplies | None = None,
    ) -> None:
        self._task, self._analyser, self._condition = task, analyser, condition
        self._retriever = GoalRetriever(task, analyser, condition, retrieval)
        self._questions, self._earlier = questions, earlier
        self._selector = selector if selector and condition.choice != "likeliest" else LikeliestSelector()
        self.known = keep_latest(known)
        self._carry = carry
        self.usage = ModelUsage()
        self.dialogue = UserDialogue()

    def recall(self, about: TaskObject, state: State) -> RecalledGoal | None:
        """What is known of an object."""
        return recall_goal(self.known, self._task, about, state, self._analyser, self._carry)

    def learn_object(self, about: TaskObject, state: State) -> LearningSteps:
        """Find out where one object belongs, and how to get it there.

        Yields:
            What happens; what the user says to a question or a wish has to be sent.

        Returns:
            What has been learned.
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
        """Goals for an object: retrieved, analysed and, where the condition says so, repaired."""
        retriever, seen, before = self._retriever, RetrievedTexts(about.thing.noun), self.usage.copy()

        def analyse(text: str) -> GoalAnalysis:
            return self._analyser.analyse(text, self._task.situation.with_focus(about.thing))

        def ask(wrong: GoalCandidate | None) -> list[RetrievedGoal]:
            told = self._earlier.brought(about, wrong, self.usage) if self._earlier else None
            if told is not None:
                seen.texts.update(response.text for response in told)
                return told
            if wrong is None:
                return retriever.goals(about, seen, self.usage)
            return retriever.mended(about, wrong, seen, self.usage)

        first = [GoalCandidate(response, analyse(response.text)) for response in ask(None)]
        yield GoalsRetrieved(tuple(first))
        if not self._condition.repairs:
            return
        for wrong, found in repair_candidates(first, ask, analyse):
            yield GoalsRetrieved(tuple(found), wrong)
            # What bounds a tree bounds all trees of an object: a model may go on and on.
            if sum(self.usage.since(before).calls.values()) >= retriever.most_calls:
                return

    def _selectable_goals(self, candidates: Sequence[GoalCandidate]) -> list[GoalCandidate]:
        """The goals that may be used: viable ones alone where the condition acts on the analysis."""
        return [each for each in candidates if each.analysis.viable or not self._condition.repairs]

    def _select(self, about: TaskObject, pool: Sequence[GoalCandidate]) -> GoalSelection:
        best = sorted(pool, key=lambda each: -each.response.probability)[:MAX_OPTIONS]
        options = [each for each in pool if each in best] if len(pool) > MAX_OPTIONS else pool
        told = self._earlier.chosen(about, options, self.usage) if self._earlier else None
        return told or self._selector.select(self._task, about, options, self.usage)

    def _confirm_goal(
        self,
        about: TaskObject,
        candidates: Sequence[GoalCandidate],
        choices: list[GoalSelection],
        answers: list[tuple[str, bool]],
    ) -> Generator[LearningEvent, str | None, GoalAnalysis | None]:
        """The first goal that the user says yes to, None when questions or goals are used up."""
        pool = self._selectable_goals(candidates)
        while pool and len(answers) < self._questions:
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
        """The goal that the user states; None for its analysis where it is not understood or not about the object."""
        sentence = (yield GoalRequest(about)) or ""
        self.dialogue.goal(sentence)
        return sentence, analyse_stated_goal(sentence, about, self._analyser, self._task)

    def _plan(self, used: GoalAnalysis | None, state: State) -> tuple[ManipulationAction, ...] | None:
        goal = goal_state(used) if used is not None and used.viable else None
        return plan_actions(state, goal) if goal is not None else None
