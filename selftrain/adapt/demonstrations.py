"""What a small model learns to cook and to ask from: breakfasts of a scripted cook, as conversations.

The cook goes by what it was told, on other days and when it asked, and by nothing else: so the model learns to go by
what it reads, and not by the tastes of people that it will never meet again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from housewise.agent.adapt.action_grammar import NO_QUESTION
from housewise.agent.adapt.llm_cook import PREFIX, QUESTION, CookingConversation, CookingTurn
from housewise.agent.adapt.prompts import AdaptPrompts
from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook, PhraseBook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import DONE
from housewise.language.base import Message
from housewise.language.embedder import Embedder
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.selftrain.adapt.hindsight import Hindsight
from housewise.selftrain.adapt.settings import DemonstrationsConfig
from housewise.selftrain.adapt.telling import Scene, Told, scene_for, tell
from housewise.selftrain.personalize.pairs import Pair
from housewise.systems.adapt.world import BreakfastObservation
from housewise.worlds.kitchen.kitchen_data import load_kitchen

_TRIES = 8  # questions that are tried for one whose answer matters
_NONE = 0.3  # share of the steps without one at which that is shown


class Demonstration:
    """A breakfast that the scripted cook makes for somebody of whom it was told something.

    Args:
        person: for whom.
        task: its number.
        most: questions that it may ask where its next action turns on the answer; always: it asks before every action,
            whatever it has not asked yet where nothing turns on it.
        config: what else is shown.
        topics: what can be asked, what is to be asked first at the beginning.
        rng: draws the scene, and what was told.
        prompts: of the model that will learn from it.
        embedder: of the person who answers.
    """

    def __init__(
        self,
        person: KitchenProfile,
        task: int,
        most: int | Literal["always"],
        config: DemonstrationsConfig,
        topics: Sequence[QuestionTopic],
        rng: random.Random,
        prompts: AdaptPrompts,
        embedder: Embedder,
    ) -> None:
        self._config, self._rng = config, rng
        self._always = most == "always"
        self._conversation = CookingConversation(prompts, "always" if self._always else "free" if most else "never")
        seed = rng.getrandbits(31)
        self._hindsight = Hindsight(scene_for(person, task, seed, embedder), person, topics)
        questions = self._hindsight.questions
        asked = rng.sample(questions, round(rng.uniform(*config.told) * len(questions)))
        self._told: Told = tuple((question, self._hindsight.answer(question)) for question in asked)
        self._scene = scene_for(person, task, seed, embedder, known=self._told)
        self._asking = AskingCook(task, PhraseBook([person]), topics, 0 if most == "always" else most, self._told)
        self._cook = self._looking()
        self._pairs: list[Pair] = []

    def pairs(self) -> list[Pair]:
        """The whole breakfast as one conversation, and lessons in reflecting."""
        turns = tell(self._scene.world, self._decide)
        *before, last = turns
        messages = self._conversation.messages(self._scene.briefing, before, last.made)
        return [_pair(messages, PREFIX, last.action, turns=True), *self._pairs]

    def _decide(self, seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str:
        if seen.question is not None:
            self._asking.take_answer(seen.question, seen.text)
            self._told += ((seen.question, seen.text),)
            self._cook = self._looking()
        if self._always and seen.question is None:
            return f'Ask "{self._any_question(seen)}"'
        if not self._always and self._rng.random() < self._config.reflections:
            self._reflect(seen, turns)
        return self._cook.act(seen.cooking, seen.named)

    def _looking(self) -> ExploringCook:
        """One that holds to nothing it meant to do before an answer."""
        return ExploringCook(self._asking, self._scene.kitchen.kitchen.verbs)

    def _any_question(self, seen: BreakfastObservation) -> str:
        heard, questions = {question for question, _ in self._told}, self._hindsight.questions
        unheard = [question for question in questions if question not in heard]
        return self._asking.next_question(seen.cooking) or (unheard[0] if unheard else self._rng.choice(questions))

    def _reflect(self, seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> None:
        """A question whose answer changes what is done next; none where only something else was done."""
        usual = self._hindsight.next(seen, self._told)
        for question, wanted in self._hindsight.changes(usual, seen, self._told, _TRIES):
            self._add(seen, turns, usual, wanted, question)
            return
        if self._rng.random() > _NONE:
            return
        slips = [action for action in (DONE, *(turn.action for turn in turns)) if action != usual]
        self._add(seen, turns, self._rng.choice(slips or [DONE]), usual, NO_QUESTION)

    def _add(
        self, seen: BreakfastObservation, turns: Sequence[CookingTurn], own: str, other: str, question: str
    ) -> None:
        messages = self._conversation.reflection_messages(self._scene.briefing, turns, seen.made, own, other)
        self._pairs.append(_pair(messages, QUESTION, question))


def demonstrate(
    person: KitchenProfile,
    config: DemonstrationsConfig,
    topics: Sequence[QuestionTopic],
    prompts: AdaptPrompts,
    embedder: Embedder,
) -> list[Pair]:
    """Some breakfasts for somebody, as pairs; the same for the same settings.

    Args:
        person: for whom.
        config: how many, and what is shown.
        topics: see Demonstration.
        prompts: of the model that will learn from them.
        embedder: of the person who answers.
    """
    rng, pairs = random.Random(f"{config.seed}/{person.name}"), list[Pair]()
    tasks = sorted(load_kitchen().tasks.tasks)
    for number in range(config.each):
        most = config.questions[number % len(config.questions)]
        task = rng.choice(tasks)
        made = Demonstration(person, task, most, config, topics, rng, prompts, embedder).pairs()
        pairs += [pair.model_copy(update={"scene": person.name, "episode": task, "run": number}) for pair in made]
    return pairs


def conversation_pair(conversation: CookingConversation, scene: Scene, turns: Sequence[CookingTurn]) -> Pair:
    """A whole breakfast of which all that the robot said is learned."""
    *before, last = turns
    return _pair(conversation.messages(scene.briefing, before, last.made), PREFIX, last.action, turns=True)


def _pair(messages: Sequence[Message], prefix: str, reply: str, turns: bool = False) -> Pair:
    return Pair(prompt=tuple(message.turn for message in messages), prefix=prefix, reply=f" {reply}", turns=turns)
