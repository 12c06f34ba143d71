"""What a report shows of a system's episodes: the house has views of its own, any other system its events in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from housewise.core.plugins import VIEWS, open_plugin, plugin_names
from housewise.core.plurals import plural
from housewise.core.record import Header, Record, Result, UnknownEvent
from housewise.rollout.comparison_settings import planner_label
from housewise.rollout.scores import Score
from housewise.rollout.system import system_scores
from housewise.worlds.house.simulator import SimulatorChoice

SaveFilm = Callable[[Any], str]
"""Puts a film where its page finds it, and returns its address there."""

_LONGEST = 4000
_MOST_EVENTS = 2000


@dataclass(frozen=True)
class ScoreCell:
    """A figure in a row: its text, and what it is sorted by."""

    text: str
    value: float


@dataclass(frozen=True)
class InitialFact:
    """Something that an episode began with.

    Attributes:
        mood: ``"right"``, ``"wrong"`` or empty.
        name, words: what it is, and what there is to say of it.
    """

    mood: str
    name: str
    words: str


class EpisodeContent(Protocol):
    """An episode, as a page shows it.

    Attributes:
        template: that shows it.
        title: which episode it is, and who acted.
        complete: whether everything could be shown that a later attempt might show.
    """

    @property
    def template(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def complete(self) -> bool: ...


class EpisodeView(Protocol):
    """How the episodes of a system are shown; named in entry points (``housewise.views``) by the system's name.

    Attributes:
        measure: what the score that counts is called.
        explanation: of the figures, in a sentence or two.
        standing: what the column about an episode's state is called; empty for none.
        columns: headings of further figures of an episode.
        has_pictures: whether ``shown`` makes pictures and films, which take long: they are made for some episodes
            only, the worst and those that are asked for.
    """

    score_heading: str
    explanation: str
    state_heading: str
    has_pictures: bool

    @property
    def columns(self) -> Sequence[str]: ...

    def title(self, header: Header) -> str:
        """Which episode it is."""
        ...

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """What went wrong in an episode, and how often; the record of one that is perfect comes without events."""
        ...

    def describe_state(self, result: Result) -> str:
        """How things are in the end, for the column ``standing``."""
        ...

    def state_sort_value(self, result: Result) -> float:
        """What that column is sorted by."""
        ...

    def cells(self, result: Result) -> list[ScoreCell]:
        """What is in those columns."""
        ...

    def is_perfect(self, result: Result) -> bool:
        """Whether nothing is left to do."""
        ...

    def describe_ending(self, header: Header, result: Result) -> str:
        """How an episode ended, and what that means."""
        ...

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """What an episode began with."""
        ...

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, keep: SaveFilm | None
    ) -> EpisodeContent:
        """An episode, for its page.

        Args:
            number: of the episode among those of one page, from 1.
            record: of the episode.
            path: of the record.
            simulator: which takes the pictures, and where; None for what can be shown without any.
            keep: see KeepFilm; None for no film.
        """
        ...


def find_view(system: str) -> EpisodeView:
    """How a system's episodes are shown.

    Raises:
        UserError: when a view of another package fails to import.
    """
    if system in plugin_names(VIEWS):
        made: EpisodeView = open_plugin(VIEWS, system, "view", needs=("score_heading", "title", "make_content"))
        return made
    return EventListView(system)


@dataclass(frozen=True)
class EventCard:
    """An event in words: its type, and its fields by name."""

    kind: str
    fields: dict[str, str]


@dataclass(frozen=True)
class EventsContent:
    """An episode as its events; see Shown."""

    number: int
    record: Record
    cards: list[EventCard]
    facts: dict[str, str]
    mood: str
    rate: float
    score_heading: str
    left_out: int = 0
    template: str = "events.html"
    complete: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """See Shown."""
        header = self.record.header
        return f"{header.task} · run {header.run} · {planner_label(header)}"


class EventListView:
    """Shows what was recorded, whatever it is.

    Args:
        system: whose episodes.
    """

    state_heading = ""
    has_pictures = False

    def __init__(self, system: str) -> None:
        self._scores = list(system_scores(system))
        self.score_heading = self._scores[0].heading if self._scores else "score"
        self.columns = [score.heading for score in self._scores[1:]]
        self.explanation = "Figures are means of an episode ± standard error over tasks."

    def title(self, header: Header) -> str:
        """See View."""
        return f"{header.task} · run {header.run}"

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See View; nothing is known of that."""
        return {}

    def describe_state(self, result: Result) -> str:
        """See View."""
        return ""

    def state_sort_value(self, result: Result) -> float:
        """See View."""
        return 0.0

    def cells(self, result: Result) -> list[ScoreCell]:
        """See View."""
        return [score_cell(score, result) for score in self._scores[1:]]

    def is_perfect(self, result: Result) -> bool:
        """See View; nothing is known of that."""
        return False

    def describe_ending(self, header: Header, result: Result) -> str:
        """See View."""
        steps = result.scores.get("steps")
        return result.ended if steps is None else f"{result.ended}; {plural(int(steps), 'step')}"

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """See View."""
        return [InitialFact("", name, text) for name, text in _format_fields(header.setting).items()]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, keep: SaveFilm | None
    ) -> EpisodeContent:
        """See View."""
        return self.list_events(number, record)

    def list_events(self, number: int, record: Record) -> EventsContent:
        """An episode as its events, with the figures that any page shows."""
        cards = [
            EventCard(event.kind, _format_fields(event.data))
            if isinstance(event, UnknownEvent)
            else EventCard(event.type, _format_fields(event.model_dump(mode="json")))
            for event in record.events[:_MOST_EVENTS]
        ]
        header, result = record.header, record.result
        facts = {"played by": planner_label(header), "person": header.person, "ended": result.ended}
        facts |= {score.heading: _format_score(score, result) for score in self._scores}
        facts |= {"seconds": f"{result.usage.seconds:.1f}"}
        rate = _display_value(self._scores[0], result) if self._scores else None
        return EventsContent(
            number,
            record,
            cards,
            {what: text for what, text in facts.items() if text},
            "partly",
            rate or 0.0,
            self.score_heading,
            len(record.events) - len(cards),
        )


def score_cell(score: Score, result: Result) -> ScoreCell:
    """A score of an episode; a dash for one that it lacks."""
    return ScoreCell(_format_score(score, result) or "–", score.of(result) or 0.0)


def _format_score(score: Score, result: Result) -> str:
    value = _display_value(score, result)
    return "" if value is None else f"{value:.{score.decimals}f}"


def _display_value(score: Score, result: Result) -> float | None:
    value = score.of(result)
    return None if value is None else score.in_display_units(value)


def _format_fields(data: Mapping[str, Any]) -> dict[str, str]:
    """Fields in words; what is long is cut."""
    found = {}
    for name, value in data.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        found[name] = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return found
