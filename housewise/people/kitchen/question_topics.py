"""What can be asked about a breakfast, as data: questions in words, and which wishes they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.language.words import content_words, word_stems
from housewise.people.kitchen.conditions import Condition, ConditionError, iter_predicates, parse_condition
from housewise.people.kitchen.profile_files import Category, KitchenProfile, KitchenPreference
from housewise.worlds.kitchen.kitchen_data import Kitchen, load_kitchen, read_model

TOPICS_FILE = CONFIGS / "adapt" / "topics.yaml"
_CALLED = {"yoghurt": "yoghurt parfait"}


@dataclass(frozen=True)
class QuestionTopic:
    """Something that can be asked.

    Attributes:
        name: of it.
        questions: ways to ask, ``{dish}`` for the dish.
        dishes: that it is about; () for any.
        predicates: by which a wish is about it.
        things: a wish is about it where one of its predicates is about nothing else.
        categories: of wishes that are about it whatever they are about.
        words: by which people speak of it, each as its tokens in one line.
        supposed: what the person may want.
    """

    name: str
    questions: tuple[str, ...]
    dishes: tuple[str, ...]
    predicates: frozenset[str]
    things: frozenset[str]
    categories: frozenset[str]
    words: frozenset[str]
    supposed: tuple[Condition, ...]

    def questions_about(self, dishes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Questions about dishes of a task, each with its dish."""
        for dish in dishes:
            if not self.dishes or dish in self.dishes:
                for question in self.questions:
                    yield question.format(dish=_CALLED.get(dish, dish)), dish

    def concerns(self, wish: KitchenPreference, dish: str) -> bool:
        """Whether a wish is about it and nothing else, where it is about that dish."""
        return self._applies(wish, dish, lambda ids: ids <= self.things)

    def is_answered_by(self, wish: KitchenPreference, dish: str) -> bool:
        """Whether a wish says something of it: it is about it, or about all of it and more."""
        # What is about kinds of wishes names no things, and nothing is about all of none.
        return self._applies(wish, dish, lambda ids: ids <= self.things or frozenset() < self.things <= ids)

    def _applies(self, wish: KitchenPreference, dish: str, fits: Callable[[frozenset[str]], bool]) -> bool:
        if wish.dishes and dish not in wish.dishes:
            return False
        return wish.category in self.categories or any(
            predicate.name in self.predicates and any(map(fits, predicate.ids))
            for predicate in iter_predicates(wish.wish)
        )

    def is_named_in(self, question: str) -> bool:
        """Whether a question has one of its words."""
        said = _spoken(question)
        return any(word in said for word in self.words)


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: tuple[str, ...] = Field(min_length=1)
    dishes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ("used", "together", "cooked")
    things: tuple[str, ...] = ()
    categories: tuple[Category, ...] = ()
    words: tuple[str, ...] = ()
    supposed: tuple[str, ...] = ()


class _File(RootModel[dict[str, _Line]]):
    pass


def load_topics(path: Path = TOPICS_FILE, kitchen: Kitchen | None = None) -> tuple[QuestionTopic, ...]:
    """The topics of a file, in its order.

    Raises:
        DataError: a line naming the file, the topic and what is wrong.
    """
    kitchen = kitchen or load_kitchen()

    def things(name: str, line: _Line) -> frozenset[str]:
        found = [(word, kitchen.find_ids(word)) for word in line.things]
        for word, ids in found:
            if ids is None:
                raise DataError(f"{path}: {name}: things: {word!r} is neither a group nor a thing of the kitchen")
        return frozenset().union(*(ids for _, ids in found if ids))

    topics = []
    for name, line in read_model(path, _File).root.items():
        for dish in line.dishes:
            if dish not in kitchen.tasks.dishes:
                raise DataError(f"{path}: {name}: unknown dish {dish!r}; use {', '.join(kitchen.tasks.dishes)}")
        try:
            supposed = tuple(parse_condition(text, kitchen.find_ids) for text in line.supposed)
        except ConditionError as error:
            raise DataError(f"{path}: {name}: supposed: {error}") from error
        about = frozenset(line.predicates)
        found, words = things(name, line), frozenset(map(_spoken, line.words))
        if not (found or line.categories):
            raise DataError(f"{path}: {name}: is about nothing; name things, or categories of wishes")
        topics.append(
            QuestionTopic(name, line.questions, line.dishes, about, found, frozenset(line.categories), words, supposed)
        )
    return tuple(topics)


def topic_of_preference(wish: KitchenPreference, dishes: Sequence[str]) -> QuestionTopic:
    """What a wish alone is about: its words ask for it, and name it but for those of the dishes.

    Args:
        wish: one that no other topic is about.
        dishes: of the task.
    """
    said = tuple(filter(None, (wish.text, wish.paraphrase)))
    words = frozenset(content_words(" ".join(said))) - frozenset(content_words(" ".join(dishes)))
    nothing: frozenset[Any] = frozenset()
    return QuestionTopic(
        f"wish {wish.id}", said, wish.dishes, nothing, nothing, nothing, frozenset(map(_spoken, words)), ()
    )


def _spoken(text: str) -> str:
    """The tokens of a text in one line, with a space at either end, so that words are found as parts."""
    return f" {' '.join(word_stems(text))} "


@lru_cache(maxsize=1)
def default_topics() -> tuple[QuestionTopic, ...]:
    """Those that come along."""
    return load_topics()


def sort_by_use(
    people: Sequence[KitchenProfile], topics: Sequence[QuestionTopic] | None = None
) -> tuple[QuestionTopic, ...]:
    """Topics in the order of how many of some people wish something about them, for the mean dish that they are about.

    Args:
        people: whose wishes count.
        topics: the usual ones without it; those of which equally many wish something keep their order.
    """
    dishes = tuple(load_kitchen().tasks.dishes)

    def use(topic: QuestionTopic) -> float:
        about = topic.dishes or dishes
        wished = (any(topic.concerns(wish, dish) for wish in each.preferences) for each in people for dish in about)
        return sum(wished) / len(about)

    return tuple(sorted(topics or default_topics(), key=use, reverse=True))
