"""STARS for one object: retrieve, analyse, repair, select, confirm, plan, act, learn; known goals need none of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.agent.stars.analysis import Analyser, Analysis
from housewise.agent.stars.conditions import Condition
from housewise.agent.stars.learning import Generalisation, GoalMemory, Recalled, note_of
from housewise.agent.stars.oversight import MOST_QUESTIONS, Dialogue, Question, User
from housewise.agent.stars.planning import execute, goal_of, plan
from housewise.agent.stars.possible import possible_goals
from housewise.agent.stars.prompts import Prompts
from housewise.agent.stars.repair import Candidate, repaired
from housewise.agent.stars.retrieval import Retrieved, SearchTree, Seen, Thresholds, draw
from housewise.agent.stars.selection import Choice, Likeliest, Selector
from housewise.agent.stars.tasks import Completion, Task, TaskObject
from housewise.agent.stars.usage import Usage
from housewise.core.errors import UserError
from housewise.language.continuing import Bounds, Continuer, Rater
from housewise.worlds.kitchen.handling import Act
from housewise.worlds.kitchen.state import State

# As many as a tree brings, so that a question with numbered options stays readable.
_MOST_RATED = 8


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
    """

    about: TaskObject
    recalled: Recalled | None = None
    candidates: tuple[Candidate, ...] = ()
    choices: tuple[Choice, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()
    stated: str | None = None
    used: Analysis | None = None
    path: tuple[Act, ...] | None = None

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
        final: how the room is in the end.
        completion: how much of the task is done.
    """

    lessons: tuple[Lesson, ...]
    dialogue: Dialogue
    usage: Usage
    final: State
    completion: Completion


@dataclass(frozen=True)
class Retrieval:
    """How goals are asked for.

    Attributes:
        model: goes on with texts.
        prompts: what it reads.
        thresholds: where the tree branches.
        lead: words that the model's goal begins with, ``{name}`` for the object and ``{are}`` for is or are.
        most_tokens: of a reply.
    """

    model: Continuer
    prompts: Prompts
    thresholds: Thresholds = field(default_factory=Thresholds)
    lead: str = ""
    most_tokens: int = 50

    @property
    def bounds(self) -> Bounds:
        """How far a reply goes."""
        return Bounds(self.most_tokens, self.prompts.stop)


class Learner:
    """Learns goals for the objects of a task and brings them about.

    Args:
        task: what there is.
        analyser: the robot's understanding.
        condition: which parts are at work.
        retrieval: how a model is asked for goals; None where all is known already.
        selector: chooses among goals; None for the likeliest.
        user: confirms and states goals, where the condition has one.
        memory: known goals, and where new ones go.
        carry: how far known goals are carried over.
    """

    def __init__(
        self,
        task: Task,
        analyser: Analyser,
        condition: Condition,
        retrieval: Retrieval | None,
        *,
        selector: Selector | None = None,
        user: User | None = None,
        memory: GoalMemory | None = None,
        carry: Generalisation | None = None,
    ) -> None:
        self._task, self._analyser, self._condition = task, analyser, condition
        self._retrieval, self._user = retrieval, user
        self._selector = selector if selector and condition.choice == "selection" else Likeliest()
        self.memory = memory if memory is not None else GoalMemory()
        self._carry = carry
        self.usage = Usage()
        self.dialogue = Dialogue()

    def play(self, instructions: Sequence[str] | None = None) -> Episode:
        """Do the whole task.

        Args:
            instructions: what the user says for it; None for the task's own.
        """
        state = self._task.start()
        self.dialogue.turns += self._task.instructions if instructions is None else instructions
        lessons = []
        for about in self._task.objects:
            lesson = self.learn(about, state)
            state = execute(state, lesson.path or ())
            lessons.append(lesson)
        return Episode(tuple(lessons), self.dialogue, self.usage, state, self._task.completion(state))

    def learn(self, about: TaskObject, state: State) -> Lesson:
        """Find out where one object belongs, and how to get it there."""
        known = self.memory.recall(self._task, about, state, self._analyser, self._carry)
        if known is not None:
            return Lesson(about, recalled=known, used=known.analysis, path=known.path)
        candidates = self._candidates(about)
        choices: list[Choice] = []
        answers: list[tuple[str, bool]] = []
        stated = None
        if self._user is not None and self._condition.user:
            used = self._confirmed(self._user, about, candidates, choices, answers)
            if used is None:
                stated, used = self._stated(self._user, about)
        else:
            choices = [self._select(about, pool)] if (pool := self._pool(candidates)) else []
            used = choices[0].candidate.analysis if choices else None
        path = self._plan(used, state)
        if used is not None and path is not None:
            confirmed = stated is not None or any(answer for _, answer in answers)
            self.memory.learn(note_of(self._task, about, used, path, confirmed))
        return Lesson(about, None, tuple(candidates), tuple(choices), tuple(answers), stated, used, path)

    def _candidates(self, about: TaskObject) -> list[Candidate]:
        """Goals for an object: retrieved, analysed and, where the condition says so, repaired."""
        if self._retrieval is None:
            return []
        seen, how = Seen(about.thing.noun), self._retrieval
        tree = SearchTree(how.model, how.bounds, how.thresholds)
        lead = how.lead.format(name=about.thing.noun, are="are" if about.plural else "is")
        behind = f" {lead}" if lead else ""

        def analyse(text: str) -> Analysis:
            return self._analyser.analyse(text, self._task.situation.asked_about(about.thing))

        def ask(wrong: Candidate) -> list[Retrieved]:
            prompt = how.prompts.for_repair(self._task, about, wrong.text, wrong.analysis.mismatches[0])
            return tree.grow(prompt + behind, seen, self.usage, "repair", lead)

        prompt = how.prompts.for_goal(self._task, about)
        if self._condition.retrieval == "grounded":
            found = self._rated(how.model, prompt, about)
        elif self._condition.retrieval == "tree":
            found = tree.grow(prompt + behind, seen, self.usage, "initial", lead)
        else:
            found = draw(how.model, prompt + behind, seen, self.usage, how.bounds, lead)
        candidates = [Candidate(response, analyse(response.text)) for response in found]
        return repaired(candidates, ask, analyse) if self._condition.repairs else candidates

    def _rated(self, model: Continuer, prompt: str, about: TaskObject) -> list[Retrieved]:
        """The likeliest of all goals that are viable."""
        if not isinstance(model, Rater):
            raise UserError(
                f"model {model.name}: it does not rate texts, as the grounded condition asks; use a local one"
            )
        goals = possible_goals(self._task, about, self._analyser)
        ratings = model.rate(prompt, [f" {goal}" for goal in goals])
        self.usage.add("rating", ratings)
        found = [Retrieved(goal, rate.probability, "grounded") for goal, rate in zip(goals, ratings, strict=True)]
        return sorted(found, key=lambda response: -response.probability)[:_MOST_RATED]

    def _pool(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The goals that may be used: viable ones alone where the condition acts on the analysis."""
        return [each for each in candidates if each.analysis.viable or not self._condition.repairs]

    def _select(self, about: TaskObject, pool: Sequence[Candidate]) -> Choice:
        return self._selector.select(self._task, about, pool, self.usage)

    def _confirmed(
        self,
        user: User,
        about: TaskObject,
        candidates: Sequence[Candidate],
        choices: list[Choice],
        answers: list[tuple[str, bool]],
    ) -> Analysis | None:
        """The first goal that the user says yes to, None when questions or goals are used up."""
        pool = self._pool(candidates)
        while pool and len(answers) < MOST_QUESTIONS:
            choices.append(self._select(about, pool))
            candidate = choices[-1].candidate
            pool.remove(candidate)
            yes = user.confirms(Question(about, candidate.text, candidate.analysis))
            answers.append((candidate.text, yes))
            self.dialogue.answer(yes)
            if yes:
                return candidate.analysis
        return None

    def _stated(self, user: User, about: TaskObject) -> tuple[str, Analysis | None]:
        """The goal that the user states; None for its analysis where it is not understood or not about the object."""
        sentence = user.states(about)
        self.dialogue.goal(sentence)
        statement = self._analyser.language.statement(sentence)
        if statement is None or statement.name not in (about.thing.noun, "object"):
            return sentence, None
        return sentence, self._analyser.check(statement.clauses, self._task.situation.asked_about(about.thing))

    def _plan(self, used: Analysis | None, state: State) -> tuple[Act, ...] | None:
        goal = goal_of(used) if used is not None and used.viable else None
        return plan(state, goal) if goal is not None else None
