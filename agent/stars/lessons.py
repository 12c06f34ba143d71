"""Types of learning: what happens while a goal is learned, what is learned, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, RetrievedGoal, RetrievedTexts
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.worlds.kitchen.manipulation import ManipulationAction
from housewise.worlds.kitchen.state import State

YES, NO = "yes", "no"
Plan = tuple[ManipulationAction, ...]
Planner = Callable[[GoalAnalysis, State], Plan | None]
"""Returns the actions that achieve a goal: none if it is true already, None if there is no plan."""


@dataclass(frozen=True)
class GoalSelection:
    """The selected goal.

    Attributes:
        candidate: The goal.
        options: Goals in the order shown to the model; empty if no model was asked.
        answer: Reply of the model, or None if no model was asked.
        fallback: Whether the reply named no option, so that the most probable goal was used.
    """

    candidate: GoalCandidate
    options: tuple[str, ...] = ()
    answer: str | None = None
    fallback: bool = False


@dataclass(frozen=True)
class GoalsRetrieved:
    """The result of asking a model for goals once.

    Attributes:
        candidates: New goals with their analyses.
        mends: Goal that they are to replace, or None for goals of the first prompt.
    """

    candidates: tuple[GoalCandidate, ...]
    mends: GoalCandidate | None = None


@dataclass(frozen=True)
class GoalQuestion:
    """Asks the user whether a goal is right.

    Attributes:
        about: Object of the goal.
        goal: Goal sentence.
        analysis: Analysis of the goal.
    """

    about: TaskObject
    goal: str
    analysis: GoalAnalysis

    def __str__(self) -> str:
        goal = self.goal.strip().rstrip(".")
        return f"For {self.about.description}: is it right that {goal[:1].lower()}{goal[1:]}?"


@dataclass(frozen=True)
class GoalRequest:
    """Asks the user to state the goal, once no candidate is left to confirm."""

    about: TaskObject

    def __str__(self) -> str:
        return f"What is the goal for {self.about.description}?"


@dataclass(frozen=True)
class StatedGoal:
    """A goal that the user stated.

    Attributes:
        sentence: The goal as a sentence. It may be longer than what the user said, such as "drawer".
        said: What the user said, in order, if it is not the sentence: several texts if the goal was asked for again.
    """

    sentence: str
    said: tuple[str, ...] = ()

    @property
    def utterances(self) -> tuple[str, ...]:
        """What the user said, in order."""
        return self.said or (self.sentence,)


LearningEvent = GoalsRetrieved | GoalSelection | GoalQuestion | GoalRequest
"""One step of learning a goal. A GoalQuestion or GoalRequest waits for the user's answer."""
LearningSteps = Generator[LearningEvent, str | StatedGoal | None, "ObjectLesson"]
"""Generator of the steps for one object. It receives the user's answers and returns the lesson."""


@dataclass(frozen=True)
class LearnedGoal:
    """A goal for objects of a name in a subtask, and its policy.

    Attributes:
        task: Name of the task.
        subtask: What was done with the objects of a place. It distinguishes the mug in the dish rack from the mug on
            the counter.
        place: Where the object was found.
        noun: Noun of the object.
        statement: The goal as a person would state it.
        policy: Actions that achieved it, with ``<object>`` for the object. Empty if the goal held already.
        confirmed: Whether a person confirmed the goal.
        kind: Kind of the object, for rooms whose vocabulary does not know the noun.
    """

    task: str
    subtask: str
    place: str
    noun: str
    statement: str
    policy: tuple[dict[str, str | None], ...] = ()
    confirmed: bool = False
    kind: str | None = None

    def lineage(self, vocabulary: RobotVocabulary) -> tuple[str, ...]:
        """Return the object's noun and its kinds, most specific first."""
        known = vocabulary.lineage(self.noun)
        return known if len(known) > 1 or self.kind is None else (self.noun, *vocabulary.lineage(self.kind))


@dataclass(frozen=True)
class RecalledGoal:
    """A learned goal that is possible for an object here and now.

    Attributes:
        note: The learned goal.
        analysis: Its analysis in the current scene.
        path: Actions to take: the learned policy if it still achieves the goal, otherwise a new plan.
        by_policy: Whether ``path`` is the learned policy.
    """

    note: LearnedGoal
    analysis: GoalAnalysis
    path: Plan
    by_policy: bool


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
    candidates: Sequence[GoalCandidate] = ()
    choices: Sequence[GoalSelection] = ()
    answers: Sequence[bool] = ()
    stated: str | None = None
    used: GoalAnalysis | None = None
    path: Plan | None = None
    learned: LearnedGoal | None = None

    @property
    def uses_model_goal(self) -> bool:
        """Whether the used goal came from the model, was viable and was not true already."""
        return self.recalled is None and self.stated is None and bool(self.path)


@dataclass
class UserDialogue:
    """Everything that the user said, counted as in the paper.

    Attributes:
        turns: Utterances in order. Each yes or no is one turn.
        yes: Number of confirmed goals.
        no: Number of refused goals.
        stated: Number of goals that the user stated.
    """

    turns: list[str] = field(default_factory=list)
    yes: int = 0
    no: int = 0
    stated: int = 0

    def answer(self, confirmed: bool) -> None:
        """Count a yes or a no."""
        self.turns.append("yes" if confirmed else "no")
        self.yes += confirmed
        self.no += not confirmed

    def goal(self, stated: StatedGoal) -> None:
        """Count a stated goal: every utterance of the user, in the user's own words."""
        self.turns += stated.utterances
        self.stated += 1

    @property
    def questions(self) -> int:
        """Number of goals that were put to the user."""
        return self.yes + self.no

    @property
    def words(self) -> int:
        """Number of words of all turns, split at spaces."""
        return sum(len(turn.split()) for turn in self.turns)


class ResponseRetriever(Protocol):
    """Retrieves goals for one object after the other.

    Attributes:
        max_calls: Number of calls for one object after which nothing more is repaired, because a model may never stop.
    """

    max_calls: int

    def retrieve(
        self, about: TaskObject, wrong: GoalCandidate | None, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """Return new goals for an object, most probable first.

        Args:
            about: The object.
            wrong: Goal to repair, or None for the first prompt.
            seen: Texts retrieved for the object so far. New ones are added.
            usage: Receives calls and tokens.

        Raises:
            UserError: The model lacks what is needed.
        """


class GoalSelector(Protocol):
    """Selects one of at least one goals."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """Return the goal to use."""
