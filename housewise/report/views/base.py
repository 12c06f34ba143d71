"""What a report shows of a system's episodes. Systems without a view of their own are shown event by event."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, cast

from pydantic import BaseModel, ValidationError

from housewise.core.formatting import plural
from housewise.core.plugins import VIEWS, open_plugin, plugin_names
from housewise.core.record import Header, Record, Result
from housewise.core.validation import validate_model
from housewise.rollout.comparison_settings import planner_label
from housewise.rollout.record_reader import event_data
from housewise.rollout.scores import Score
from housewise.rollout.system import system_scores
from housewise.worlds.house.simulator import SimulatorChoice

_M = TypeVar("_M", bound=BaseModel)
SaveFilm = Callable[[Any], str]
"""Saves a film and returns its URL."""

_LONGEST = 4000
_MAX_EVENTS = 2000


@dataclass(frozen=True)
class ScoreCell:
    """A score in a table.

    Attributes:
        text: Displayed text.
        value: Value that the column is sorted by.
    """

    text: str
    value: float


@dataclass(frozen=True)
class InitialFact:
    """A fact about the start of an episode.

    Attributes:
        mood: Icon beside the fact: "right", "wrong", or empty for none.
        name: What the fact is about.
        words: The fact in words.
    """

    mood: str
    name: str
    words: str


@dataclass(frozen=True)
class TurnCell:
    """A turn of an episode, as a cell of the page that shows episodes side by side.

    Attributes:
        attempt: Number of the attempt, from 1.
        number: Number of the turn in it, from 1.
        act: What was done, in words; empty if something was said.
        speech: What was said.
        failed: Why it failed; empty if it did not.
        answer: What was answered.
        reached: Subgoals that were reached.
    """

    attempt: int
    number: int
    act: str
    speech: str = ""
    failed: str = ""
    answer: str = ""
    reached: tuple[str, ...] = ()


class EpisodeContent(Protocol):
    """What a page shows of an episode."""

    @property
    def template(self) -> str:
        """File name of the Jinja template."""

    @property
    def title(self) -> str:
        """Title of the page: episode and agent."""

    @property
    def complete(self) -> bool:
        """False if the page should be written again next time, for example because pictures were missing."""


class _LegacyView:
    """Adapter for views of plugins that still use the former names of members, such as ``measure`` and ``faults``."""

    _FORMER: ClassVar[Mapping[str, str]] = {
        "score_heading": "measure",
        "state_heading": "standing",
        "count_faults": "faults",
        "describe_state": "state",
        "state_sort_value": "gained",
        "is_perfect": "perfect",
        "describe_ending": "ending",
        "initial_facts": "began",
        "make_content": "shown",
    }

    def __init__(self, view: Any) -> None:
        former, current = type(view).__name__, ", ".join(self._FORMER)
        warnings.warn(f"view {former}: its members are now called {current}", DeprecationWarning, stacklevel=3)
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, self._FORMER.get(name, name))


def find_view(system: str) -> EpisodeView:
    """Return the view of a system's episodes.

    Raises:
        UserError: The view of another package cannot be imported.
    """
    if system in plugin_names(VIEWS):
        found = open_plugin(VIEWS, system, "view", needs=("title",))
        return cast(EpisodeView, found if hasattr(found, "make_content") else _LegacyView(found))
    return EpisodeView(system)


@dataclass(frozen=True)
class EventCard:
    """An event as a page shows it: its type, and its fields as texts."""

    kind: str
    fields: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class RecordContent:
    """Base class of the contents that show one record; see `EpisodeContent`.

    Attributes:
        number: Number of the episode on its page, from 1.
        record: The record.
        facts: Facts about the episode, by name.
        rate: Main score in display units.
        score_heading: Heading of the main score.
        mood: Style of the main score: "right" for a perfect episode, else "partly".
        left_out: Number of events that are not shown.
        notes: Sentences about what is not shown.
    """

    number: int
    record: Record
    facts: dict[str, str]
    rate: float
    score_heading: str
    mood: str = "partly"
    left_out: int = 0
    template: str = ""
    complete: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """See `EpisodeContent`."""
        header = self.record.header
        return f"{header.task} · run {header.repetition} · {planner_label(header)}"


@dataclass(frozen=True, kw_only=True)
class EventsContent(RecordContent):
    """The events of an episode."""

    cards: list[EventCard]
    template: str = "events.html"


class EpisodeView:
    """How the episodes of a system are shown: by default, event by event.

    The views of other systems are named in the entry points `housewise.views`, under the system's name.

    Args:
        system: Name of the system.

    Attributes:
        score_heading: Heading of the main score.
        explanation: What the scores mean, in a sentence or two.
        state_heading: Heading of the column with the final state, or an empty text for no such column.
        columns: Headings of further scores.
        has_pictures: Whether `make_content` renders pictures and films, which takes long: they are made for the worst
            episodes and those that the user names.
        has_turns: Whether episodes of a task are shown side by side, turn by turn; see `list_turns`.
    """

    explanation = "Figures are means of an episode ± standard error over tasks."
    state_heading = ""
    has_pictures = False
    has_turns = False

    def __init__(self, system: str) -> None:
        self._scores = list(system_scores(system))
        self.score_heading = self._scores[0].heading if self._scores else "score"
        self.columns = [score.heading for score in self._scores[1:]]

    def title(self, header: Header) -> str:
        """Return the title of an episode."""
        return f"{header.task} · run {header.repetition}"

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """Return what went wrong in an episode, with counts. Of a perfect episode, ``record`` comes without events."""
        return {}

    def describe_state(self, result: Result) -> str:
        """Return the final state of an episode for the column `state_heading`."""
        return ""

    def state_sort_value(self, result: Result) -> float:
        """Return the value that the column `state_heading` is sorted by."""
        return 0.0

    def cells(self, result: Result) -> list[ScoreCell]:
        """Return the scores of the columns `columns`."""
        return [score_cell(score, result) for score in self._scores[1:]]

    def is_perfect(self, result: Result) -> bool:
        """Return whether nothing is left to do at the end of an episode."""
        return False

    def describe_ending(self, header: Header, result: Result) -> str:
        """Describe how an episode ended."""
        steps = result.scores.get("steps")
        return result.end_reason if steps is None else f"{result.end_reason}; {plural(int(steps), 'step')}"

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """Return facts about the start of an episode."""
        return [InitialFact("", name, text) for name, text in _format_fields(header.initial_state).items()]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> EpisodeContent:
        """Return the content of an episode's page.

        Args:
            number: Number of the episode on its page, from 1.
            record: Record of the episode.
            path: Path of the record.
            simulator: Simulator that renders the pictures, or None for no pictures.
            save_film: Saves a film, or None for no film; see `SaveFilm`.
        """
        return self.list_events(number, record)

    def list_turns(self, record: Record) -> list[TurnCell]:
        """Return the turns of an episode in order."""
        return []

    def spoken_words(self, record: Record) -> str:
        """Return what was said in an episode, for the search in the index."""
        return ""

    def list_events(self, number: int, record: Record) -> EventsContent:
        """Return the events of an episode as its content."""
        cards = [EventCard(kind, _format_fields(data)) for kind, data in map(event_data, record.events[:_MAX_EVENTS])]
        return EventsContent(
            **self.shared_fields(number, record), cards=cards, left_out=len(record.events) - len(cards)
        )

    def shared_fields(self, number: int, record: Record) -> dict[str, Any]:
        """Return the fields of `RecordContent` for an episode."""
        header, result = record.header, record.result
        facts = {"played by": planner_label(header), "person": header.person, "ended": result.end_reason}
        facts |= {score.heading: _format_score(score, result) for score in self._scores}
        facts |= {"seconds": f"{result.usage.seconds:.1f}"}
        return {
            "number": number,
            "record": record,
            "facts": {what: text for what, text in facts.items() if text},
            "rate": (self._scores and _display_value(self._scores[0], result)) or 0.0,
            "score_heading": self.score_heading,
        }


def read_state(kind: type[_M], content: object, path: Path) -> _M:
    """Return the initial or final state in a record.

    Raises:
        UserError: The state lacks what the class needs.
    """
    return validate_model(kind, content, path, "delete the file to run the episode again")


def parse_initial_state(kind: type[_M], header: Header) -> _M | None:
    """Return the initial state in a header, or None if it is another one."""
    try:
        return kind.model_validate(header.initial_state)
    except ValidationError:
        return None


def score_cell(score: Score, result: Result) -> ScoreCell:
    """Return the cell of a score, with a dash if the episode lacks it."""
    return ScoreCell(_format_score(score, result) or "–", score.value_in(result) or 0.0)


def round_score(result: Result, name: str) -> int:
    """Return a score that counts something, or 0 if the episode lacks it."""
    return round(result.scores.get(name, 0))


def _format_score(score: Score, result: Result) -> str:
    value = _display_value(score, result)
    return "" if value is None else f"{value:.{score.decimals}f}"


def _display_value(score: Score, result: Result) -> float | None:
    value = score.value_in(result)
    return None if value is None else score.in_display_units(value)


def _format_fields(data: Mapping[str, Any]) -> dict[str, str]:
    """Return fields as texts, truncated if they are long."""
    found = {}
    for name, value in data.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        found[name] = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return found
