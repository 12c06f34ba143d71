"""Which question would have changed what is done next: known to whoever knows how the person answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook, PhraseBook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.people.respondent import Question
from housewise.selftrain.adapt.telling import Scene, Told
from housewise.systems.adapt.world import BreakfastObservation


class Hindsight:
    """What a scripted cook does next that goes by what it was told, and which answers would change that.

    Args:
        scene: where it is asked.
        person: whom it is asked of, who answers in the sentences of people's files.
        topics: what can be asked, in the order in which it is tried.
    """

    def __init__(self, scene: Scene, person: KitchenProfile, topics: Sequence[QuestionTopic]) -> None:
        self._scene, self._topics, self._phrases = scene, topics, PhraseBook([person])
        asked = (next(iter(topic.questions_about(scene.judge.dishes)), ("", ""))[0] for topic in topics)
        self.questions = tuple(question for question in asked if question)

    def answer(self, question: str) -> str:
        """What the person says."""
        return self._scene.speaker.answer(Question(question)).text

    def next(self, seen: BreakfastObservation, told: Told) -> str:
        """What a cook does next who may not ask."""
        cook = AskingCook(self._scene.judge.task, self._phrases, self._topics, 0, told)
        return ExploringCook(cook, self._scene.kitchen.kitchen.verbs).act(seen.cooking, seen.named)

    def changes(
        self, usual: str, seen: BreakfastObservation, told: Told, tries: int | None = None
    ) -> Iterator[tuple[str, str]]:
        """Questions after whose answers something else is done next, each with what that is.

        Args:
            usual: what is done next without them.
            seen: what is perceived.
            told: questions that were answered, with the answers.
            tries: how many that tell a wish are tried; all by default.
        """
        heard = {question for question, _ in told}
        unheard = [(question, self.answer(question)) for question in self.questions if question not in heard]
        telling = (each for each in unheard if self._phrases.find_wishes(each[1]))
        for each in islice(telling, tries):
            then = self.next(seen, (*told, each))
            if then != usual:
                yield each[0], then

    def question(self, seen: BreakfastObservation, told: Told, wanted: str) -> str | None:
        """A question after whose answer what is wanted is done next, or at least something else; None where there is
        none, and where that is done without one."""
        usual = self.next(seen, told)
        if usual == wanted:
            return None
        found = list(self.changes(usual, seen, told))
        return next((question for question, then in found if then == wanted), found[0][0] if found else None)
