"""Topics of questions about a breakfast: how to ask about each, and which preferences it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import Field, RootModel

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, suggest_names
from housewise.core.validation import StrictModel, read_model
from housewise.language.words import content_words, word_stems
from housewise.people.kitchen.conditions import Condition, ConditionError, find_ids, iter_predicates, parse_condition
from housewise.people.kitchen.profiles import Category, KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import KitchenData, load_kitchen

TOPICS_FILE = CONFIGS / "adapt" / "topics.yaml"
_DISH_NAMES = {"yoghurt": "yoghurt parfait"}


@dataclass(frozen=True)
class QuestionTopic:
    """Something that can be asked about a breakfast.

    Attributes:
        name: Its name.
        questions: Ways to ask; ``{dish}`` stands for the dish.
        dishes: The dishes that it is about; empty for all.
        predicates: Names of predicates by which a preference can be about it.
        things: A preference is about the topic if one of these predicates names no other things.
        categories: Preferences of these categories are about the topic in any case.
        words: Words by which people refer to it, each as its tokens in one line.
        assumptions: Conditions that the person may want.
    """

    name: str
    questions: tuple[str, ...]
    dishes: tuple[str, ...] = ()
    predicates: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    assumptions: tuple[Condition, ...] = ()

    def questions_about(self, dishes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Yield the questions about the dishes of a task, each with its dish."""
        for dish in dishes:
            if not self.dishes or dish in self.dishes:
                for question in self.questions:
                    yield question.format(dish=_DISH_NAMES.get(dish, dish)), dish

    def concerns(self, preference: KitchenPreference, dish: str) -> bool:
        """Whether a preference for a dish is about this topic and nothing else."""
        return self._applies(preference, dish, lambda ids: ids <= self.things)

    def is_answered_by(self, preference: KitchenPreference, dish: str) -> bool:
        """Whether a preference for a dish is about this topic, or about all of its things and others."""
        # A topic of categories has no things, and its empty set would be part of every other.
        return self._applies(preference, dish, lambda ids: ids <= self.things or frozenset() < self.things <= ids)

    def _applies(self, preference: KitchenPreference, dish: str, fits: Callable[[frozenset[str]], bool]) -> bool:
        if preference.dishes and dish not in preference.dishes:
            return False
        return preference.category in self.categories or any(
            predicate.name in self.predicates and any(map(fits, predicate.ids))
            for predicate in iter_predicates(preference.wish)
        )

    def is_named_in(self, question: str) -> bool:
        """Whether a question contains one of the words of the topic."""
        text = _token_line(question)
        return any(word in text for word in self.words)


class _TopicEntry(StrictModel):
    questions: tuple[str, ...] = Field(min_length=1)
    dishes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ("used", "together", "cooked")
    things: tuple[str, ...] = ()
    categories: tuple[Category, ...] = ()
    words: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


class _TopicFile(RootModel[dict[str, _TopicEntry]]):
    pass


def load_topics(path: Path = TOPICS_FILE) -> tuple[QuestionTopic, ...]:
    """Read the topics of a YAML file, in its order.

    Raises:
        DataError: The file is invalid. The message names the file, the topic and the problem.
    """
    entries = read_model(path, _TopicFile).root.items()
    return tuple(_topic(name, entry, load_kitchen(), f"{path}: {name}") for name, entry in entries)


def _topic(name: str, entry: _TopicEntry, kitchen: KitchenData, where: str) -> QuestionTopic:
    try:
        things = find_ids(entry.things, kitchen.find_ids)
    except ConditionError as error:
        raise DataError(f"{where}: things: {error}") from error
    for dish in entry.dishes:
        if dish not in kitchen.tasks.dishes:
            raise DataError(f"{where}: unknown dish {dish!r}; {suggest_names(dish, kitchen.tasks.dishes)}")
    try:
        assumptions = tuple(parse_condition(text, kitchen.find_ids) for text in entry.assumptions)
    except ConditionError as error:
        raise DataError(f"{where}: assumptions: {error}") from error
    if not (things or entry.categories):
        raise DataError(f"{where}: is about nothing; name things, or categories of preferences")
    return QuestionTopic(
        name,
        entry.questions,
        entry.dishes,
        frozenset(entry.predicates),
        things,
        frozenset(entry.categories),
        frozenset(map(_token_line, entry.words)),
        assumptions,
    )


def topic_of_preference(preference: KitchenPreference, dishes: Sequence[str]) -> QuestionTopic:
    """Build a topic for a preference that no other topic is about.

    Args:
        preference: Its texts are the questions. Their content words refer to it, except for names of dishes.
        dishes: The dishes of the task.
    """
    texts = tuple(filter(None, (preference.text, preference.paraphrase)))
    words = frozenset(content_words(" ".join(texts))) - frozenset(content_words(" ".join(dishes)))
    return QuestionTopic(f"wish {preference.id}", texts, preference.dishes, words=frozenset(map(_token_line, words)))


def _token_line(text: str) -> str:
    """Return the tokens of a text in one line with a space at either end, so that words can be found as substrings."""
    return f" {' '.join(word_stems(text))} "


@lru_cache(maxsize=1)
def default_topics() -> tuple[QuestionTopic, ...]:
    """Return the bundled topics."""
    return load_topics()


def sort_by_use(profiles: Sequence[KitchenProfile]) -> tuple[QuestionTopic, ...]:
    """Sort the bundled topics by how many people have a preference about them, averaged over the dishes of the topic.

    Args:
        profiles: The people that are counted. Equally frequent topics keep their order.
    """
    dishes = tuple(load_kitchen().tasks.dishes)

    def use(topic: QuestionTopic) -> float:
        about = topic.dishes or dishes
        uses = (any(topic.concerns(wish, dish) for wish in each.preferences) for each in profiles for dish in about)
        return sum(uses) / len(about)

    return tuple(sorted(default_topics(), key=use, reverse=True))
