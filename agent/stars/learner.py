"""STARS for one object: retrieve, analyse, repair, select, confirm, plan, act, learn; known goals need none of it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from housewise.agent.stars.analysis import Analyser, Analysis
from housewise.agent.stars.conditions import Condition
from housewise.agent.stars.learning import Generalisation, GoalNote, Recalled, latest, note_of, recall
from housewise.agent.stars.oversight import MOST_QUESTIONS, YES, Dialogue, Question, Wish, stated_goal
from housewise.agent.stars.planning import goal_of, plan
from housewise.agent.stars.repair import Candidate, repairs
from housewise.agent.stars.retrieval import Retrieved, Seen
from housewise.agent.stars.retriever import Retrieval, Retriever
from housewise.agent.stars.selection import Choice, Likeliest, Selector
from housewise.agent.stars.tasks import Completion, Task, TaskObject
from housewise.agent.stars.usage import Usage
from housewise.worlds.kitchen.manipulation import ManipulationAction
from housewise.worlds.kitchen.state import State

MOST_OPTIONS = 40
"""Goals among which one is selected; a model that goes on and on brings more, of which the likeliest are taken."""


@dataclass(frozen=True)
class Brought:
    """What asking a model once for goals brought.

    Attributes:
        candidates: new goals and what is made of them.
        mends: the goal that they are to replace; None for those of the first prompt.
    """

    candidates: tuple[Candidate, ...]
    mends: Candidate | None = None


Happening = Brought | Choice | Question | Wish
"""What happens while a goal is found; a question or a wish waits for what the user says."""
Course = Generator[Happening, str | None, "Lesson"]
"""How one object is learned, step by step."""


class Earlier(Protocol):
    """What models were asked before a run was cut off: they are not asked again."""

    def brought(self, about: TaskObject, mends: Candidate | None, usage: Usage) -> list[Retrieved] | None:
        """What came of asking for goals, or of a repair; None where that had not been asked. Usage is added."""
        ...

    def chosen(self, about: TaskObject, pool: Sequence[Candidate], usage: Usage) -> Choice | None:
        """What was selected among candidates; None where that had not been asked. Usage is added."""
        ...


@dataclass(frozen=True)
class Lesson:
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
    recalled: Recalled | None = None
    candidates: tuple[Candidate, ...] = ()
    choices: tuple[Choice, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()
    stated: str | None = None
    used: Analysis | None = None
    path: tuple[ManipulationAction, ...] | None = None
    learned: GoalNote | None = None

    @property
    def sourced(self) -> bool:
        """Whether a goal of the model's was used that was viable and not true already."""
        return self.recalled is None and self.stated is None and bool(self.path)


@dataclass(frozen=True)
class Episode:
    """One task under one condition.

    Attributes:
        lessons: in the order of work.
        dialogue: all that the user said.
        usage: what models were asked.
        completion: how much of the task is done.
    """

    lessons: tuple[Lesson, ...]
    dialogue: Dialogue
    usage: Usage
    completion: Completion


class Learner:
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
        task: Task,
        analyser: Analyser,
        condition: Condition,
        retrieval: Retrieval,
        *,
        selector: Selector | None = None,
        known: Iterable[GoalNote] = (),
        carry: Generalisation | None = None,
        questions: int = MOST_QUESTIONS,
        earlier: Earlier | None = None,
    ) -> None:
        self._task, self._analyser, self._condition = task, analyser, condition
        self._retriever = Retriever(task, analyser, condition, retrieval)
        self._questions, self._earlier = questions, earlier
        self._selector = selector if selector and condition.choice != "likeliest" else Likeliest()
        self.known = latest(known)
        self._carry = carry
        self.usage = Usage()
        self.dialogue = Dialogue()

    def recall(self, about: TaskObject, state: State) -> Recalled | None:
        """What is known of an object."""
        return recall(self.known, self._task, about, state, self._analyser, self._carry)

    def course(self, about: TaskObject, state: State) -> Course:
        """Find out where one object belongs, and how to get it there.

        Yields:
            What happens; what the user says to a question or a wish has to be sent.

        Returns:
            What has been learned.
        """
        known = self.recall(about, state)
        if known is not None:
            return Lesson(about, recalled=known, used=known.analysis, path=known.path)
        candidates: list[Candidate] = []
        for brought in self._brought(about):
            candidates += brought.candidates
            yield brought
        choices: list[Choice] = []
        answers: list[tuple[str, bool]] = []
        stated, used = None, None
        if self._condition.user:
            used = yield from self._confirmed(about, candidates, choices, answers)
            if used is None:
                stated, used = yield from self._stated(about)
        elif pool := self._pool(candidates):
            choices.append(self._select(about, pool))
            used = choices[0].candidate.analysis
            yield choices[0]
        path = self._plan(used, state)
        learned = None
        if used is not None and path is not None:
            confirmed = stated is not None or any(answer for _, answer in answers)
            learned = note_of(self._task, about, used, path, confirmed, self._analyser.language.vocabulary)
            self.known = latest([*self.known, learned])
        return Lesson(about, None, tuple(candidates), tuple(choices), tuple(answers), stated, used, path, learned)

    def _brought(self, about: TaskObject) -> Iterator[Brought]:
        """Goals for an object: retrieved, analysed and, where the condition says so, repaired."""
        retriever, seen, before = self._retriever, Seen(about.thing.noun), self.usage.copy()

        def analyse(text: str) -> Analysis:
            return self._analyser.analyse(text, self._task.situation.asked_about(about.thing))

        def ask(wrong: Candidate | None) -> list[Retrieved]:
            told = self._earlier.brought(about, wrong, self.usage) if self._earlier else None
            if told is not None:
                seen.texts.update(response.text for response in told)
                return told
            if wrong is None:
                return retriever.goals(about, seen, self.usage)
            return retriever.mended(about, wrong, seen, self.usage)

        first = [Candidate(response, analyse(response.text)) for response in ask(None)]
        yield Brought(tuple(first))
        if not self._condition.repairs:
            return
        for wrong, found in repairs(first, ask, analyse):
            yield Brought(tuple(found), wrong)
            # What bounds a tree bounds all trees of an object: a model may go on and on.
            if sum(self.usage.since(before).calls.values()) >= retriever.most_calls:
                return

    def _pool(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The goals that may be used: viable ones alone where the condition acts on the analysis."""
        return [each for each in candidates if each.analysis.viable or not self._condition.repairs]

    def _select(self, about: TaskObject, pool: Sequence[Candidate]) -> Choice:
        best = sorted(pool, key=lambda each: -each.response.probability)[:MOST_OPTIONS]
        options = [each for each in pool if each in best] if len(pool) > MOST_OPTIONS else pool
        told = self._earlier.chosen(about, options, self.usage) if self._earlier else None
        return told or self._selector.select(self._task, about, options, self.usage)

    def _confirmed(
        self,
        about: TaskObject,
        candidates: Sequence[Candidate],
        choices: list[Choice],
        answers: list[tuple[str, bool]],
    ) -> Generator[Happening, str | None, Analysis | None]:
        """The first goal that the user says yes to, None when questions or goals are used up."""
        pool = self._pool(candidates)
        while pool and len(answers) < self._questions:
            choices.append(self._select(about, pool))
            yield choices[-1]
            candidate = choices[-1].candidate
            pool.remove(candidate)
            yes = (yield Question(about, candidate.text, candidate.analysis)) == YES
            answers.append((candidate.text, yes))
            self.dialogue.answer(yes)
            if yes:
                return candidate.analysis
        return None

    def _stated(self, about: TaskObject) -> Generator[Happening, str | None, tuple[str, Analysis | None]]:
        """The goal that the user states; None for its analysis where it is not understood or not about the object."""
        sentence = (yield Wish(about)) or ""
        self.dialogue.goal(sentence)
        return sentence, stated_goal(sentence, about, self._analyser, self._task)

    def _plan(self, used: Analysis | None, state: State) -> tuple[ManipulationAction, ...] | None:
        goal = goal_of(used) if used is not None and used.viable else None
        return plan(state, goal) if goal is not None else None
