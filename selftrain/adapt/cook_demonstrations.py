"""Demonstrations of a scripted cook, from which a small model learns to cook and to ask: breakfasts as conversations.

The cook acts only by what it was told, on other days and in answers. So the model learns to follow what it reads, and
not the tastes of people whom it will never meet again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from housewise.agent.adapt.action_grammar import NO_QUESTION
from housewise.agent.adapt.planner_prompt import PREFIX, QUESTION, CookingTurn, Interaction, PlannerPrompt
from housewise.agent.adapt.prompts import AdaptPrompts
from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook, PhraseBook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import DONE
from housewise.language.base import Message
from housewise.language.embedder import Embedder
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.selftrain.adapt.breakfast_replay import (
    AnsweredQuestions,
    BreakfastScene,
    make_scene,
    play_breakfast,
)
from housewise.selftrain.adapt.question_oracle import QuestionOracle
from housewise.selftrain.adapt.settings import DemonstrationsConfig
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.systems.adapt.world import BreakfastObservation
from housewise.worlds.kitchen.kitchen_data import load_kitchen

_MAX_TRIED = 8  # questions that are tried for one whose answer changes the action
_NO_QUESTION_SHARE = 0.3  # share of the steps without such a question that become examples


class CookDemonstration:
    """A breakfast that the scripted cook makes for a person, with some wishes told beforehand.

    Args:
        person: The person.
        task: Number of the task.
        max_questions: Largest number of questions, asked where the next action depends on the answer. ``"always"``: the
            cook asks before every action, even where nothing depends on the answer.
        config: What else is demonstrated.
        topics: What can be asked, in the order in which it is asked at the beginning.
        rng: Draws the scene, and what was told beforehand.
        prompts: Prompts of the model that learns from it.
        embedder: Embedder of the answering person.
    """

    def __init__(
        self,
        person: KitchenProfile,
        task: int,
        max_questions: int | Literal["always"],
        config: DemonstrationsConfig,
        topics: Sequence[QuestionTopic],
        rng: random.Random,
        prompts: AdaptPrompts,
        embedder: Embedder,
    ) -> None:
        self._config, self._rng = config, rng
        self._always = max_questions == "always"
        self._prompt = PlannerPrompt(prompts, "always" if self._always else "free" if max_questions else "never")
        seed = rng.getrandbits(31)
        self._oracle = QuestionOracle(make_scene(person, task, seed, embedder), person, topics)
        questions = self._oracle.questions
        asked = rng.sample(questions, round(rng.uniform(*config.share_remembered) * len(questions)))
        self._answered: AnsweredQuestions = tuple((question, self._oracle.answer(question)) for question in asked)
        self._scene = make_scene(person, task, seed, embedder, known=self._answered)
        self._asking = AskingCook(
            task, PhraseBook([person]), topics, 0 if max_questions == "always" else max_questions, self._answered
        )
        self._cook = self._new_cook()
        self._reflection_examples: list[EpisodeDemonstration] = []

    def examples(self) -> list[EpisodeDemonstration]:
        """Return the breakfast as one conversation, followed by the examples of reflection."""
        turns = play_breakfast(self._scene.world, self._decide)
        return [conversation_demonstration(self._prompt, self._scene, turns), *self._reflection_examples]

    def _decide(self, seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str:
        if seen.question is not None:
            self._asking.take_answer(seen.question, seen.text)
            self._answered += ((seen.question, seen.text),)
            self._cook = self._new_cook()
        if self._always and seen.question is None:
            return f'Ask "{self._next_question(seen)}"'
        if not self._always and self._rng.random() < self._config.reflections:
            self._demonstrate_reflection(seen, turns)
        return self._cook.act(seen.cooking, seen.named)

    def _new_cook(self) -> ExploringCook:
        """Return a cook without the intentions that it had before an answer."""
        return ExploringCook(self._asking, self._scene.kitchen.kitchen.verbs)

    def _next_question(self, seen: BreakfastObservation) -> str:
        heard, questions = {question for question, _ in self._answered}, self._oracle.questions
        unheard = [question for question in questions if question not in heard]
        return self._asking.next_question(seen.cooking) or (unheard[0] if unheard else self._rng.choice(questions))

    def _demonstrate_reflection(self, seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> None:
        """Add an example of reflection: a question whose answer changes the next action, or that there is none."""
        usual = self._oracle.next_action(seen, self._answered)
        for question, wanted in self._oracle.decisive_questions(usual, seen, self._answered, _MAX_TRIED):
            self._add_reflection(seen, turns, usual, wanted, question)
            return
        if self._rng.random() > _NO_QUESTION_SHARE:
            return
        slips = [action for action in (DONE, *(turn.action for turn in turns)) if action != usual]
        self._add_reflection(seen, turns, self._rng.choice(slips or [DONE]), usual, NO_QUESTION)

    def _add_reflection(
        self, seen: BreakfastObservation, turns: Sequence[CookingTurn], own: str, other: str, question: str
    ) -> None:
        interaction = Interaction(self._scene.briefing, tuple(turns), seen.made)
        messages = self._prompt.reflection_messages(interaction, own, other)
        self._reflection_examples.append(_demonstration(messages, QUESTION, question))


def demonstrate_breakfasts(
    person: KitchenProfile,
    config: DemonstrationsConfig,
    topics: Sequence[QuestionTopic],
    prompts: AdaptPrompts,
    embedder: Embedder,
) -> list[EpisodeDemonstration]:
    """Return the examples of some breakfasts for a person; equal settings give equal examples.

    Args:
        person: The person.
        config: Number of breakfasts, and what is demonstrated.
        topics: See CookDemonstration.
        prompts: Prompts of the model that learns from them.
        embedder: Embedder of the answering person.
    """
    rng, examples = random.Random(f"{config.seed}/{person.name}"), list[EpisodeDemonstration]()
    tasks = sorted(load_kitchen().tasks.tasks)
    for number in range(config.each):
        max_questions = config.questions[number % len(config.questions)]
        task = rng.choice(tasks)
        made = CookDemonstration(person, task, max_questions, config, topics, rng, prompts, embedder).examples()
        source = {"scene": person.name, "episode": task, "run": number}
        examples += [example.model_copy(update=source) for example in made]
    return examples


def conversation_demonstration(
    prompt: PlannerPrompt, scene: BreakfastScene, turns: Sequence[CookingTurn]
) -> EpisodeDemonstration:
    """Return a breakfast as an example in which all messages of the robot are learned."""
    *before, last = turns
    messages = prompt.messages(Interaction(scene.briefing, tuple(before), last.made))
    return _demonstration(messages, PREFIX, last.action, turns=True)


def _demonstration(messages: Sequence[Message], prefix: str, reply: str, turns: bool = False) -> EpisodeDemonstration:
    return EpisodeDemonstration(
        prompt=tuple(message.turn for message in messages), prefix=prefix, reply=f" {reply}", turns=turns
    )
