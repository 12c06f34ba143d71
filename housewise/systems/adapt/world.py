"""The text kitchen as a world with a person, who answers questions immediately and judges the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from housewise.agent.adapt.planner_prompt import CookingTurn
from housewise.core.record import Event
from housewise.core.settings import MAX_COUNT
from housewise.language.words import normalize_letters, one_line
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.memory import About, Note
from housewise.people.respondent import Question
from housewise.people.respondent import Respondent as Speaker
from housewise.rollout.note_events import NoteEvent
from housewise.systems.adapt.record import AdaptFinalState, CookingActionEvent, KitchenAnswerEvent, VerdictLine
from housewise.worlds.base import Step
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.world import KitchenStep as Done
from housewise.worlds.kitchen.world import TextKitchen

BREAKFAST_TASK = "breakfast"
"""Task of notes about breakfasts."""
MAX_ANSWER_CHARACTERS = 1000
_WORD = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class BreakfastObservation:
    """What a robot observes.

    Attributes:
        text: Result of the last action, the answer after a question, or the layout at the beginning.
        made: What has been made so far, if that has changed; otherwise empty.
        named: Rooms, furniture and everything named in observations so far.
        cooking: Current scene. Robots that have to explore do not read it.
        last: Last step, or None at the beginning.
        question: Question that was answered, or None if the last action was no question.
        recalled: Whether the answer is from another day and the person was not asked.
    """

    text: str
    made: str
    named: tuple[str, ...]
    cooking: KitchenDynamics
    last: Done | None = None
    question: str | None = None
    recalled: bool = False

    def turn(self, action: str, made: str = "", thought: str = "") -> CookingTurn:
        """Return the last action as a turn of the conversation; see CookingTurn."""
        failed = self.last is not None and self.last.failed
        return CookingTurn(action, self.text, self.question is not None, failed, made, thought)


NO_MORE_QUESTIONS = "Nothing can be asked any more; go on by what is known."


class BreakfastWorld:
    """A breakfast that is made for a person.

    Description:
        ``TextKitchen`` with a person who answers questions at once and judges the breakfast (ADAPT, section 3).

    Mission space:
        Prepare the breakfast of the task as the person prefers it.

    Action space:
        A line of text; see ``TextKitchen``. ``Ask "..."`` asks the person.

    Observation space:
        ``BreakfastObservation``: the text of the kitchen or the answer, and the names that are known so far.

    Rewards:
        None. ``scores`` has the satisfaction and counts of questions and actions.

    Termination:
        The agent declares the task done. Truncation as in ``TextKitchen``.

    Args:
        kitchen: Text kitchen.
        person: Person whose wishes are judged.
        judge: Preference judge of the task.
        open_respondent: Creates the respondent who answers for the person, when the first question is asked.
        memory_person: Person of the memory that answers go into.
        earlier_answers: Answers of interrupted attempts, by question.
        known_answers: Answers of other days, by question. The same question is not asked again.
        max_questions: Maximum number of questions. Further questions fail.
    """

    def __init__(
        self,
        kitchen: TextKitchen,
        person: KitchenProfile,
        judge: PreferenceJudge,
        open_respondent: Callable[[], Speaker],
        memory_person: str,
        earlier_answers: Mapping[str, str],
        known_answers: Mapping[str, str] = MappingProxyType({}),
        max_questions: int = MAX_COUNT,
    ) -> None:
        self._kitchen, self._person, self._judge = kitchen, person, judge
        self._open_respondent = open_respondent
        self._respondent: Speaker | None = None
        self._memory_person, self._earlier_answers = memory_person, earlier_answers
        self._max_questions = max_questions
        self._known_answers = {_question_key(question): answer for question, answer in known_answers.items()}

    def reset(self) -> BreakfastObservation:
        """See World.reset."""
        layout = self._kitchen.reset()
        self._named = dict.fromkeys([*self._kitchen.kitchen.house.rooms, *self._kitchen.kitchen.furniture])
        self._made = self._kitchen.describe_prepared_food()
        self._questions = self._recalled = self._refused = 0
        return self._observation(layout, "")

    def step(self, action: str) -> Step[BreakfastObservation]:
        """See World.step."""
        done = self._kitchen.step(action)
        made = self._kitchen.describe_prepared_food()
        changed, self._made = made if made != self._made else "", made
        asked = done.action is not None and done.action.name == "ask" and not done.failed
        if asked and self._questions >= self._max_questions:
            # Models without a grammar can still ask.
            self._refused += 1
            event = CookingActionEvent(text=action, observation=NO_MORE_QUESTIONS, failed=True, prepared_food=changed)
            return Step(
                self._observation(NO_MORE_QUESTIONS, changed, done), (event,), blocked=True, over=done.truncated
            )
        event = CookingActionEvent(text=action, observation=done.observation, failed=done.failed, prepared_food=changed)
        if done.action is not None and asked:
            said = self._answer_question(done.action.x)
            return Step(
                self._observation("", changed, done, said), (event, *self._answer_events(said)), over=done.truncated
            )
        state = self._kitchen.state
        self._named |= dict.fromkeys(word for word in _WORD.findall(done.observation) if word in state)
        return Step(
            self._observation(done.observation, changed, done), (event,), blocked=done.failed, over=done.truncated
        )

    def scores(self) -> Mapping[str, float]:
        """See World.scores."""
        verdicts = self._judge.verdicts(self._person, self._kitchen.trace)
        decisions = [verdict.decision for verdict in verdicts]
        share = satisfaction_rate(verdicts)
        found = {} if share is None else {"satisfaction": share}
        counted = self._kitchen.scores()
        return found | {
            "satisfied": decisions.count("satisfied"),
            "applicable": len(decisions) - decisions.count("inapplicable"),
            "questions": self._questions,
            "recalled": self._recalled,
            "executed": counted["executed"] - self._questions - self._recalled - self._refused,
            "failed": counted["failed"] + self._refused,
        }

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        verdicts = self._judge.verdicts(self._person, self._kitchen.trace, with_steps=True)
        return AdaptFinalState(
            verdicts=[VerdictLine.from_verdict(each) for each in verdicts], prepared_food=self._made
        ).model_dump()

    def _answer_question(self, question: str) -> KitchenAnswerEvent:
        known = self._known_answers.get(_question_key(question))
        if known is not None:
            self._recalled += 1
            return KitchenAnswerEvent(question=question, text=known, recalled=True)
        self._questions += 1
        said = self._earlier_answers.get(question)
        if said is None:
            self._respondent = self._respondent or self._open_respondent()
            said = self._respondent.answer(Question(question, about=self._about(question))).text
        return KitchenAnswerEvent(question=question, text=one_line(said[:MAX_ANSWER_CHARACTERS]))

    def _answer_events(self, said: KitchenAnswerEvent) -> Sequence[Event]:
        """Return the answer event and, if the answer is new, its note."""
        if said.recalled or not said.text:
            return (said,)
        about = self._about(said.question)
        return said, NoteEvent(note=Note(person=self._memory_person, kind="answer", text=said.text, about=about))

    def _about(self, question: str) -> About:
        return About(task=BREAKFAST_TASK, question=question)

    def _observation(
        self, text: str, made: str, last: Done | None = None, said: KitchenAnswerEvent | None = None
    ) -> BreakfastObservation:
        perceived = (tuple(self._named), self._kitchen.dynamics, last)
        if said is None:
            return BreakfastObservation(text, made, *perceived)
        return BreakfastObservation(said.text, made, *perceived, said.question, said.recalled)


def _question_key(question: str) -> str:
    """Return a key that is equal for equal questions, ignoring case and punctuation."""
    return normalize_letters(one_line(question))
