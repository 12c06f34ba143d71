"""Recorded responses of the paper's language models, one JSON object a line, with the worlds that they were asked in.

A folder holds ``worlds.json``, ``vocabulary.json``, ``<task>.jsonl`` with underscores for spaces and, for the replay,
``expected.json``. Nothing of it is part of this project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import load_robot
from housewise.agent.stars.goal_grammar import GoalLanguage
from housewise.agent.stars.situation import PerceivedThing
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.vocabulary import NounKind, RobotVocabulary
from housewise.core.text_files import numbered_lines, read_text
from housewise.core.validation import read_model, validate_json
from housewise.worlds.kitchen.state import Relation

# What the published vocabulary has too much for a task: the snapshot is of one version of the agent, the runs are of
# several. (The groceries runs did not know "trash"; those of the office read "is empty" as the verb alone.)
MISSING_WORDS: Mapping[str, tuple[str, ...]] = {"store groceries": ("trash",)}
MISSING_STATES: Mapping[str, tuple[str, ...]] = {"organize office": ("empty",)}

# "In the kitchen" was taken for a place to put things, "in the office" was not.
ROOMS_THAT_HOLD = frozenset({"kitchen"})

_REMEDY = "restore the file, or give another folder of recorded STARS responses"


class _Recorded(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Line(_Recorded):
    task: str
    condition: str
    object: str


class RecordedMismatch(_Recorded):
    """What the published agent found wrong."""

    kind: str
    what: str | None = None
    object: str | None = None


class Offer(_Recorded):
    """A question to the user, and what was answered."""

    order: int
    answer: Literal["yes", "no"]


class Response(_Line):
    """A goal that was retrieved, with what the published agent made of it."""

    type: Literal["response"] = "response"
    text: str
    source: Literal["first", "repair"]
    rank: int | None = None
    viable: bool
    kind: str | None = None
    mismatches: tuple[RecordedMismatch, ...] = ()
    viable_position: int | None = None
    used: bool = False
    offered: Offer | None = None


class HumanGoal(_Line):
    """A goal that the user stated."""

    type: Literal["human_goal"] = "human_goal"
    text: str


class Calls(_Line):
    """What a language model was asked for an object."""

    type: Literal["calls"] = "calls"
    calls: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


Line = Response | HumanGoal | Calls


class _AnyLine(RootModel[Line]):
    root: Annotated[Line, Field(discriminator="type")]


class RecordedFixture(_Recorded):
    """Furniture of a recorded world."""

    name: str
    noun: str
    modifier: str | None = None
    affordances: frozenset[str]
    initially: str | None = None
    goal_state: str | None = None


class RecordedObject(_Recorded):
    """An object of a recorded world, with where the user wants it."""

    id: str
    name: str
    order: int
    relation: Relation
    location: str
    kinds: tuple[str, ...]
    affordances: frozenset[str]
    goal: tuple[str, ...]


class RecordedTask(_Recorded):
    """A task as the published agent met it."""

    room: str
    instructions: tuple[str, ...]
    fixtures: tuple[RecordedFixture, ...]
    objects: tuple[RecordedObject, ...]


class _Worlds(_Recorded):
    tasks: dict[str, RecordedTask]


class _ExpectedFigures(RootModel[dict[str, dict[str, dict[str, Any]]]]):
    pass


class _RecordedKind(_Recorded):
    kind_of: str | None = None
    affordances: frozenset[str] = frozenset()


class _RecordedWords(_Recorded):
    words: dict[str, frozenset[str]]
    kinds: dict[str, _RecordedKind]
    means: dict[str, str]
    states: dict[str, str]
    modifiers: frozenset[str]


class Recordings:
    """A folder of recorded responses.

    Args:
        folder: as the module describes.

    Raises:
        DataError: when a file is missing or is not what it should be; the message names file, field and remedy.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tasks: Mapping[str, RecordedTask] = read_model(folder / "worlds.json", _Worlds, _REMEDY).tasks
        self._words = read_model(folder / "vocabulary.json", _RecordedWords, _REMEDY)

    def lines(self, task: str) -> list[Line]:
        """All lines of a task, in the order in which the robot took the objects."""
        path = self.folder / f"{task.replace(' ', '_')}.jsonl"
        lines = numbered_lines(read_text(path, _REMEDY))
        return [validate_json(_AnyLine, line, f"{path} line {number}", _REMEDY).root for number, line in lines]

    def expected_figures(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The figures that a correct replay gives, by task and condition."""
        return read_model(self.folder / "expected.json", _ExpectedFigures, _REMEDY).root

    def analyser(self, task: str) -> GoalAnalyser:
        """An analyser with the words and kinds of the published agent, as it was in the runs of a task."""
        words = self._words
        vocabulary = RobotVocabulary(
            words=words.words,
            kinds={noun: NounKind(kind.kind_of, kind.affordances) for noun, kind in words.kinds.items()},
            synonyms=words.means,
            states=words.states,
            modifiers=words.modifiers,
            source=str(self.folder / "vocabulary.json"),
        )
        known = vocabulary.remove_words(MISSING_WORDS.get(task, ()), MISSING_STATES.get(task, ()))
        return GoalAnalyser(GoalLanguage(known), load_robot())

    def task(self, name: str, vocabulary: RobotVocabulary) -> StarsTask:
        """A recorded task as ours, with all objects of both shares: the robot saw them all."""
        world = self.tasks[name]
        fixtures = {
            label: PerceivedThing(
                name=label,
                noun=fixture.noun,
                modifiers=frozenset([fixture.modifier] if fixture.modifier else []),
                kinds=frozenset(vocabulary.lineage(fixture.noun)),
                affordances=fixture.affordances,
            )
            for label, fixture in with_unique_names(world.fixtures)
        }
        objects = [
            TaskObject(
                thing=PerceivedThing(each.id, each.name, kinds=frozenset(each.kinds), affordances=each.affordances),
                relation=each.relation,
                place=each.location,
                wanted=each.goal,
            )
            for each in world.objects
        ]
        holds = frozenset({"receptacle"} if world.room in ROOMS_THAT_HOLD else ())
        states = dict(with_unique_names(world.fixtures))
        return StarsTask(
            name=name,
            room=PerceivedThing(
                world.room, world.room, kinds=frozenset(vocabulary.lineage(world.room)), affordances=holds
            ),
            fixtures=tuple(fixtures.values()),
            objects=tuple(objects),
            closed=tuple(label for label, fixture in states.items() if fixture.goal_state == "closed"),
            open=tuple(label for label, fixture in states.items() if fixture.initially == "open"),
            instructions=world.instructions,
            source=str(self.folder / "worlds.json"),
        )


def with_unique_names(fixtures: Sequence[RecordedFixture]) -> Iterator[tuple[str, RecordedFixture]]:
    """Fixtures with names that tell them apart: the second and third bag are numbered."""
    seen: Counter[str] = Counter()
    for fixture in fixtures:
        seen[fixture.name] += 1
        count = seen[fixture.name]
        yield (f"{fixture.name} {count}" if count > 1 else fixture.name), fixture
