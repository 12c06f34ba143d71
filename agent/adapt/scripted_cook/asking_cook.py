"""The scripted cook that knows what it was told and asks about what its next action depends on.

For every topic it assumes each possible wish of the person. If its next action would differ, it asks. It understands
only the sentences of preference files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.people.kitchen.conditions import Condition
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.worlds.kitchen.dynamics import KitchenDynamics


class PhraseBook:
    """Maps sentences of preference files to wishes.

    Args:
        people: Profiles. If two contain the same sentence, the later one's wish is used.
    """

    def __init__(self, people: Iterable[KitchenProfile]) -> None:
        self._wishes = {wish.text: wish for person in people for wish in person.preferences}

    def find_wishes(self, said: str) -> list[KitchenPreference]:
        """Return the wishes whose sentences occur in a text."""
        return [wish for text, wish in self._wishes.items() if text in said]


class AskingCook:
    """Returns the next action for a person of whom it knows what it was told.

    Args:
        task: Number of the task.
        phrases: Maps answers to wishes.
        topics: What it can ask about.
        max_questions: Maximum number of questions.
        known_answers: Earlier questions and answers.
    """

    def __init__(
        self,
        task: int,
        phrases: PhraseBook,
        topics: Sequence[QuestionTopic],
        max_questions: int,
        known_answers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._judge = PreferenceJudge(task)
        self._phrases, self._topics, self._left = phrases, topics, max_questions
        self._known: dict[str, KitchenPreference] = {}
        self._asked: set[str] = set()
        self._cook = self._make_oracle()
        for question, answer in known_answers:
            self.take_answer(question, answer)

    def take_answer(self, question: str, answer: str) -> None:
        """Store the answer to a question."""
        self._asked.add(question)
        understood = {wish.text: wish for wish in self._phrases.find_wishes(answer)}
        if not understood.keys() <= self._known.keys():
            self._known |= understood
            self._cook = self._make_oracle()

    def act(self, cooking: KitchenDynamics) -> str:
        """Return the next action, which may be a question."""
        question = self.next_question(cooking) if self._left else None
        if question is None:
            return self._cook.act(cooking)
        self._left -= 1
        return f'Ask "{question}"'

    def next_question(self, cooking: KitchenDynamics) -> str | None:
        """Return the first question whose answer changes the next action, or None."""
        usual = self._make_oracle().plan(cooking)[0]
        for topic in self._topics:
            asked = list(topic.questions_about(self._judge.dishes))
            if not asked or self._is_settled(topic, asked):
                continue
            if any(self._make_oracle(assumption).plan(cooking)[0] != usual for assumption in topic.assumptions):
                return asked[0][0]
        return None

    def _is_settled(self, topic: QuestionTopic, asked: Sequence[tuple[str, str]]) -> bool:
        """Return whether a topic was asked about, or is covered by what it was told."""
        return any(
            question in self._asked or any(topic.concerns(wish, dish) for wish in self._known.values())
            for question, dish in asked
        )

    def _make_oracle(self, assumption: Condition | None = None) -> OracleCook:
        """Return a cook that knows what was told and assumes one more condition."""
        wishes = tuple(self._known.values())
        if assumption is not None:
            task = self._judge.task
            wishes += (KitchenPreference("", "", "preparation", (task,), (), None, assumption, "", ""),)
        return OracleCook(KitchenProfile("", "", wishes), self._judge.task, self._judge.kitchen)
