"""Finds questions whose answers change the next action, with knowledge of how the person answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook, PhraseBook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.people.respondent import Question
from housewise.selftrain.adapt.breakfast_replay import AnsweredQuestions, BreakfastScene
from housewise.systems.adapt.world import BreakfastObservation


class QuestionOracle:
    """Predicts the actions of a scripted cook that acts by what it was told, and which answers would change them.

    Args:
        scene: The breakfast.
        person: The person who answers, in the sentences of people's files.
        topics: What can be asked, in the order in which it is tried.
    """

    def __init__(self, scene: BreakfastScene, person: KitchenProfile, topics: Sequence[QuestionTopic]) -> None:
        self._scene, self._topics, self._phrases = scene, topics, PhraseBook([person])
        asked = (next(iter(topic.questions_about(scene.judge.dishes)), ("", ""))[0] for topic in topics)
        self.questions = tuple(question for question in asked if question)

    def answer(self, question: str) -> str:
        """Return the person's answer to a question."""
        return self._scene.speaker.answer(Question(question)).text

    def next_action(self, seen: BreakfastObservation, answered: AnsweredQuestions) -> str:
        """Return the next action of a cook that may not ask."""
        cook = AskingCook(self._scene.judge.task, self._phrases, self._topics, 0, answered)
        return ExploringCook(cook, self._scene.kitchen.kitchen.verbs).act(seen.cooking, seen.named)

    def decisive_questions(
        self, usual: str, seen: BreakfastObservation, answered: AnsweredQuestions, max_tried: int | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yield questions whose answers change the next action, each with the changed action.

        Args:
            usual: The next action without them.
            seen: The observation.
            answered: Questions that were answered, with the answers.
            max_tried: Largest number of questions with an informative answer that are tried; all by default.
        """
        heard = {question for question, _ in answered}
        unheard = [(question, self.answer(question)) for question in self.questions if question not in heard]
        telling = (each for each in unheard if self._phrases.find_wishes(each[1]))
        for each in islice(telling, max_tried):
            then = self.next_action(seen, (*answered, each))
            if then != usual:
                yield each[0], then

    def best_question(self, seen: BreakfastObservation, answered: AnsweredQuestions, wanted: str) -> str | None:
        """Return a question whose answer leads to the wanted action, or at least to another one.

        None if there is no such question, or if the wanted action is next without one.
        """
        usual = self.next_action(seen, answered)
        if usual == wanted:
            return None
        found = list(self.decisive_questions(usual, seen, answered))
        return next((question for question, then in found if then == wanted), found[0][0] if found else None)
