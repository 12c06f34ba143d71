"""The STARS approach for one object: retrieve goals, analyse and repair, select, ask the user, plan, and learn once.

Source: Kirk et al., AAAI 2024 (arXiv 2306.06770v4), sections "The STARS Approach" (figure 2), "Selection (S)", "User
Oversight (O)" and "Experiment Design" (figure 4, learning goals and policy; table 1, conditions); appendix B.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from housewise.agent.stars.analysis_and_repair import GoalAnalyser, repair_candidates
from housewise.agent.stars.experiment_conditions import StarsCondition
from housewise.agent.stars.goal_memory import LearnedGoals
from housewise.agent.stars.lessons import (
    YES,
    GoalQuestion,
    GoalRequest,
    GoalSelection,
    GoalSelector,
    GoalsRetrieved,
    LearningEvent,
    LearningSteps,
    ObjectLesson,
    Planner,
    ResponseRetriever,
    StatedGoal,
    UserDialogue,
)
from housewise.agent.stars.model_usage import SELECTION, ModelUsage
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, RetrievedGoal, RetrievedTexts, most_probable
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.language.completion import CompletionModel
from housewise.worlds.kitchen.state import State

MAX_QUESTIONS = 5
_NUMBER = re.compile(r"\s*(\d{1,3})(?!\d)")


class GoalLearner:
    """Learns goals for the objects of a task, and plans how to achieve them (figure 4).

    Args:
        task: The task.
        analyser: Analyses goal sentences.
        condition: Which parts of STARS are active (table 1).
        retriever: Retrieves goals from a model, for example with the search tree.
        memory: Recalls and keeps learned goals.
        plan: Internal planning.
        selector: Selects among goals. Defaults to the most probable goal, as in the baseline.
        max_questions: Maximum number of goals per object that are put to the user.
    """

    def __init__(
        self,
        task: StarsTask,
        analyser: GoalAnalyser,
        condition: StarsCondition,
        retriever: ResponseRetriever,
        memory: LearnedGoals,
        plan: Planner,
        *,
        selector: GoalSelector | None = None,
        max_questions: int = MAX_QUESTIONS,
    ) -> None:
        self._task, self._analyser, self._condition, self._retriever = task, analyser, condition, retriever
        self.memory, self._plan, self._max_questions = memory, plan, max_questions
        self._selector = selector or LikeliestSelector()
        self.usage = ModelUsage()
        self.dialogue = UserDialogue()

    def learn_object(self, about: TaskObject, state: State) -> LearningSteps:
        """Find out where one object belongs and plan how to get it there. A known goal needs no model and no user.

        Yields:
            The steps. The user's answer to a GoalQuestion or GoalRequest has to be sent to the generator.

        Returns:
            The lesson.
        """
        known = self.memory.recall(about, state)
        if known is not None:
            return ObjectLesson(about, recalled=known, used=known.analysis, path=known.path)
        candidates: list[GoalCandidate] = []
        for retrieved in self._retrieve_analyse_and_repair(about):
            candidates += retrieved.candidates
            yield retrieved
        # With repair, only viable goals are used.
        pool = [each for each in candidates if each.analysis.viable or not self._condition.repairs]
        choices: list[GoalSelection] = []
        answers: list[bool] = []
        stated, used = None, None
        if self._condition.user:
            chosen = yield from self._solicit_feedback(about, pool, choices, answers)
            if isinstance(chosen, GoalAnalysis):
                used = chosen
            else:
                reply = chosen or (yield GoalRequest(about))
                goal = reply if isinstance(reply, StatedGoal) else StatedGoal(reply or "")
                self.dialogue.goal(goal)
                stated = goal.sentence
                used = self._analyser.analyse_statement(stated, self._task.situation.with_focus(about.thing))
        elif pool:
            choices.append(self._selector.select(self._task, about, pool, self.usage))
            used = choices[0].candidate.analysis
            yield choices[0]
        path = self._plan(used, state) if used is not None else None
        learned = None
        if used is not None and path is not None:
            learned = self.memory.learn(about, used, path, confirmed=stated is not None or any(answers))
        return ObjectLesson(about, None, candidates, choices, answers, stated, used, path, learned)

    def _retrieve_analyse_and_repair(self, about: TaskObject) -> Iterator[GoalsRetrieved]:
        """Yield goals for an object: retrieved, analysed and, depending on the condition, repaired (figure 2)."""
        seen, before = RetrievedTexts(about.thing.noun), self.usage.copy()

        def retrieve(wrong: GoalCandidate | None) -> list[RetrievedGoal]:
            return self._retriever.retrieve(about, wrong, seen, self.usage)

        def analyse(text: str) -> GoalAnalysis:
            return self._analyser.analyse(text, self._task.situation.with_focus(about.thing))

        first = [GoalCandidate(response, analyse(response.text)) for response in retrieve(None)]
        yield GoalsRetrieved(tuple(first))
        if not self._condition.repairs:
            return
        for wrong, found in repair_candidates(first, retrieve, analyse):
            yield GoalsRetrieved(tuple(found), wrong)
            if sum(self.usage.since(before).calls.values()) >= self._retriever.max_calls:
                return

    def _solicit_feedback(
        self, about: TaskObject, pool: list[GoalCandidate], choices: list[GoalSelection], answers: list[bool]
    ) -> Generator[LearningEvent, str | StatedGoal | None, GoalAnalysis | StatedGoal | None]:
        """Return the first goal that the user confirms, or None if all are rejected (User Oversight, O).

        Selection determines which goal to present. It is repeated with the rejected one removed. A user who states a
        goal in place of yes or no rejects all others: that one is returned.
        """
        while pool and len(answers) < self._max_questions:
            choices.append(self._selector.select(self._task, about, pool, self.usage))
            yield choices[-1]
            candidate = choices[-1].candidate
            pool.remove(candidate)
            reply = yield GoalQuestion(about, candidate.text, candidate.analysis)
            if isinstance(reply, StatedGoal):
                return reply
            answers.append(reply == YES)
            self.dialogue.answer(answers[-1])
            if answers[-1]:
                return candidate.analysis
        return None


class LikeliestSelector:
    """Selects the goal with the highest mean token probability, without asking a model (baseline TBP, figure 1)."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select."""
        return GoalSelection(most_probable(candidates))


class NumberedSelector:
    """Asks a model for the number of the most reasonable goal (Selection, S; appendix B, Selection).

    Args:
        model: Answers the question, with one token at temperature 0.
        templates: Prompt templates.
        hints: Whether the prompt includes facts about the house (STARS*).
    """

    def __init__(self, model: CompletionModel, templates: StarsPrompts, hints: bool = False) -> None:
        self._model, self._templates = model, templates
        self._system = templates.selection.system_message(hints)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """Select the goal that the model names, or the most probable goal if it names none."""
        if len(candidates) == 1:
            return GoalSelection(candidates[0])
        shown = self.order(candidates)
        options = tuple(candidate.text for candidate in shown)
        [reply] = self._model.answer(self._system, [construct_selection_prompt(self._templates, task, about, options)])
        usage.add(SELECTION, [reply])
        said = _NUMBER.match(reply.text)
        number = int(said[1]) if said else 0
        if 1 <= number <= len(shown):
            return GoalSelection(shown[number - 1], options, reply.text)
        return GoalSelection(most_probable(candidates), options, reply.text, fallback=True)

    def order(self, candidates: Sequence[GoalCandidate]) -> list[GoalCandidate]:
        """Return the goals in the order of the question. The most probable goal is the last."""
        return sorted(candidates, key=lambda candidate: candidate.response.probability)


def construct_selection_prompt(
    templates: StarsPrompts, task: StarsTask, about: TaskObject, options: Sequence[str]
) -> str:
    """Return a numbered question which of some goals is the most reasonable (appendix B, Selection)."""
    goals = (" ".join(option.split()).rstrip(".") for option in options)
    numbered = "\n".join(f"{number}. {goal[:1].upper()}{goal[1:]}." for number, goal in enumerate(goals, 1))
    return templates.selection.question_with(task.name, task.room.noun, about.description, numbered)
