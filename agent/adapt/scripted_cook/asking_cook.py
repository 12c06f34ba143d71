"""A scripted cook who knows of the person what it was told, and asks what its next action turns on.

It supposes of every topic what the person may want; where its next action would be another one then, it asks. It
understands what is said in the sentences of people's files, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.people.kitchen.conditions import Condition
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import Kitchen


class PhraseBook:
    """Sentences of people's files, and the wishes that they stand for.

    Args:
        people: where two say the same, the later one's wish counts.
    """

    def __init__(self, people: Iterable[KitchenProfile]) -> None:
        self._wishes = {wish.text: wish for person in people for wish in person.preferences}

    def find_wishes(self, said: str) -> list[KitchenPreference]:
        """The wishes whose sentences somebody says."""
        return [wish for text, wish in self._wishes.items() if text in said]


class AskingCook:
    """Says the next action for a person of whom it knows what was told.

    Args:
        task: its number.
        phrases: how it understands.
        topics: what it can ask.
        most: questions that it may ask.
        told: questions that were answered before, with the answers.
    """

    def __init__(
        self,
        task: int,
        phrases: PhraseBook,
        topics: Sequence[QuestionTopic],
        most: int,
        told: Iterable[tuple[str, str]] = (),
        kitchen: Kitchen | None = None,
    ) -> None:
        self._judge = PreferenceJudge(task, kitchen)
        self._phrases, self._topics, self._left = phrases, topics, most
        self._known: dict[str, KitchenPreference] = {}
        self._asked: set[str] = set()
        self._cook = self._make_oracle()
        for question, answer in told:
            self.take_answer(question, answer)

    @property
    def known(self) -> tuple[KitchenPreference, ...]:
        """What it has been told of the person."""
        return tuple(self._known.values())

    def take_answer(self, question: str, answer: str) -> None:
        """Take in what was said to a question."""
        self._asked.add(question)
        understood = {wish.text: wish for wish in self._phrases.find_wishes(answer)}
        if not understood.keys() <= self._known.keys():
            self._known |= understood
            self._cook = self._make_oracle()

    def act(self, cooking: KitchenDynamics) -> str:
        """The next action, a question among them."""
        question = self.next_question(cooking) if self._left else None
        if question is None:
            return self._cook.act(cooking)
        self._left -= 1
        return f'Ask "{question}"'

    def next_question(self, cooking: KitchenDynamics) -> str | None:
        """The first question on whose answer the next action turns; None where it turns on none."""
        usual = self._make_oracle().plan(cooking)[0]
        for topic in self._topics:
            asked = list(topic.questions_about(self._judge.dishes))
            if not asked or self._is_settled(topic, asked):
                continue
            if any(self._make_oracle(supposed).plan(cooking)[0] != usual for supposed in topic.supposed):
                return asked[0][0]
        return None

    def _is_settled(self, topic: QuestionTopic, asked: Sequence[tuple[str, str]]) -> bool:
        """Whether it was asked, or something that was told is about it."""
        return any(
            question in self._asked or any(topic.concerns(wish, dish) for wish in self._known.values())
            for question, dish in asked
        )

    def _make_oracle(self, supposed: Condition | None = None) -> OracleCook:
        """A cook who knows what was told, and takes one thing more for granted."""
        wishes = self.known
        if supposed is not None:
            task = self._judge.task
            wishes += (KitchenPreference("", "", "preparation", (task,), (), None, supposed, "", ""),)
        return OracleCook(KitchenProfile("", "", wishes), self._judge.task, self._judge.kitchen)
