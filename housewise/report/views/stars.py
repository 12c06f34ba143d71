"""Shows episodes of STARS object by object: the model's responses and mismatches, choices, questions and actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from housewise.core.formatting import plural
from housewise.core.record import Event, Header, Record, Result
from housewise.report.views.base import (
    EpisodeView,
    InitialFact,
    RecordContent,
    SaveFilm,
    ScoreCell,
    parse_initial_state,
    read_state,
    round_score,
)
from housewise.rollout.comparison_settings import planner_label
from housewise.rollout.note_events import NoteEvent
from housewise.systems.stars.record import (
    GoalAnswerEvent,
    GoalEvent,
    GoalQuestionEvent,
    ManipulationEvent,
    MismatchLine,
    ObjectEvent,
    RecalledEvent,
    RepairEvent,
    ResponseLine,
    RetrievedEvent,
    SelectionEvent,
    StarsFinalState,
    StarsInitialState,
)
from housewise.worlds.house.simulator import SimulatorChoice

_MAX_RESPONSES = 80
"""Maximum number of responses per object on a page. The others are counted."""
_LONGEST = 300

_E = TypeVar("_E", bound=Event)


@dataclass
class ResponseNode:
    """A part of a goal that several responses share, and their continuations.

    Attributes:
        words: Words of the part.
        response: The response that ends here, or None.
        further: Continuations.
        repairs: Trees of responses that repair this one.
    """

    words: str
    response: ResponseLine | None = None
    further: list[ResponseNode] = field(default_factory=list)
    repairs: list[ResponseTree] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """Why the response is not viable, or an empty text."""
        return describe_mismatches(self.response.mismatches) if self.response else ""


@dataclass(frozen=True)
class ResponseTree:
    """Responses of one request to a model.

    Attributes:
        branches: The responses, with shared beginnings merged.
        reason: Mismatch that the responses are to repair, or an empty text.
    """

    branches: list[ResponseNode]
    reason: str = ""


FindRepairs = Callable[[str], list[ResponseTree]]
"""Returns the repairs of a response by its text."""


@dataclass(frozen=True)
class GoalTurn:
    """A choice among goals, or a question to the person.

    Attributes:
        choice: The choice, or None for a question.
        question: The question, or an empty text.
        answer: The answer, or an empty text.
    """

    choice: SelectionEvent | None = None
    question: str = ""
    answer: str = ""


@dataclass(frozen=True)
class ObjectEpisode:
    """What happened with one object.

    Attributes:
        mood: "right" if the object ended where it is wanted, else "wrong".
        seen: Where it was found.
        place: Where it ended.
        wanted: Where it is wanted.
        recalled: Goal recalled from the memory, or an empty text.
        tree: Responses of the model, or None if it was not asked.
        left_out: Number of responses that are not shown.
        turns: Choices and questions in order.
        goal: Goal that was used, or None.
        wrong: Why the goal is not viable, or an empty text.
        acts: Actions.
        notes: Texts of the learned notes.
    """

    mood: str
    seen: str
    place: str
    wanted: str
    recalled: str
    tree: ResponseTree | None
    left_out: int
    turns: list[GoalTurn]
    goal: GoalEvent | None
    wrong: str
    acts: list[ManipulationEvent]
    notes: list[str]

    @property
    def fault(self) -> str:
        """Why the object is misplaced, as one of a few labels; empty if it is not."""
        if self.mood == "right":
            return ""
        if self.goal is None or self.goal.source == "nobody":
            return "no goal"
        if self.goal.mismatches:
            return f"unviable goal ({self.goal.mismatches[0].kind})"
        return "another place" if self.acts else "nothing done"


@dataclass(frozen=True, kw_only=True)
class StarsContent(RecordContent):
    """An episode object by object."""

    summary: str
    objects: list[ObjectEpisode]
    template: str = "stars.html"


class StarsView(EpisodeView):
    """View of STARS; see `EpisodeView`."""

    state_heading = "objects in place"

    def __init__(self) -> None:
        super().__init__("stars")
        self.score_heading = "completion"
        self.columns = ["goals retrieved", "asked", "stated", "recalled", "words"]
        self.explanation = (
            "Completion: objects that are in or on a fixture where the person wants them, and fixtures that are closed "
            "as they should be, of all of these, mean ± standard error over tasks. The other numbers are means of an "
            "episode."
        )

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See `EpisodeView`: misplaced objects by reason."""
        return Counter(each.fault for each in _objects(record, path) if each.fault)

    def describe_state(self, result: Result) -> str:
        """See `EpisodeView`."""
        return f"{round_score(result, 'in_place')} of {round_score(result, 'objects')}"

    def state_sort_value(self, result: Result) -> float:
        """See `EpisodeView`."""
        return round_score(result, "in_place")

    def cells(self, result: Result) -> list[ScoreCell]:
        """See `EpisodeView`."""
        names = ("retrieved", "proposed", "stated", "recalled", "words")
        return [ScoreCell(str(round_score(result, name)), round_score(result, name)) for name in names]

    def is_perfect(self, result: Result) -> bool:
        """See `EpisodeView`."""
        return result.scores.get("completion_percent") == 100

    def describe_ending(self, header: Header, result: Result) -> str:
        """See `EpisodeView`."""
        wrong = round_score(result, "objects") - round_score(result, "in_place")
        is_open = round_score(result, "fixtures") - round_score(result, "closed")
        parts = [f"{plural(wrong, 'object')} out of place"] if wrong else []
        parts += [f"{plural(is_open, 'fixture')} left open"] if is_open else []
        if round_score(result, "recalled") == round_score(result, "objects"):
            parts.append("all of it by memory")
        return "; ".join(parts) or "all in place, all closed"

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """See `EpisodeView`: where each object was found and where it is wanted."""
        initial_state = parse_initial_state(StarsInitialState, header)
        if initial_state is None:
            return []
        return [
            InitialFact("", thing, f"{place}; wanted in {_places(initial_state, thing)}")
            for thing, place in initial_state.places.items()
        ]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> StarsContent:
        """See `EpisodeView`."""
        header, result = record.header, record.result
        usage = result.usage
        facts = {
            "condition": planner_label(header),
            "person": header.person,
            "ended": self.describe_ending(header, result),
        }
        facts |= {"objects in place": self.describe_state(result)}
        facts |= {name: cell.text for name, cell in zip(self.columns, self.cells(result), strict=True)}
        facts |= {"tokens": str(usage.prompt_tokens + usage.completion_tokens), "seconds": f"{usage.seconds:.1f}"}
        shared = self.shared_fields(number, record)
        shared["facts"] = {what: text for what, text in facts.items() if text}
        return StarsContent(
            **shared,
            mood="right" if self.is_perfect(result) else "partly",
            summary=" ".join(_initial_state(record, path).instructions)[:_LONGEST],
            objects=list(_objects(record, path)),
        )


def describe_mismatches(mismatches: Sequence[MismatchLine]) -> str:
    """Describe why a goal is not viable. The text is empty if it is."""
    return ", ".join(_describe_mismatch(each) for each in mismatches[:3])


def build_response_tree(
    lines: Sequence[ResponseLine], find_repairs: FindRepairs = lambda text: []
) -> list[ResponseNode]:
    """Return responses as a tree of words, in which shared beginnings are merged.

    Args:
        lines: The responses.
        find_repairs: Returns the repairs of a response by its text.
    """
    return _branches([(line.text[:_LONGEST].split(), line) for line in lines], find_repairs)


def _branches(texts: Sequence[tuple[list[str], ResponseLine]], find_repairs: FindRepairs) -> list[ResponseNode]:
    groups: dict[str, list[tuple[list[str], ResponseLine]]] = {}
    for words, line in texts:
        groups.setdefault(words[0] if words else "", []).append((words, line))
    found = []
    for group in groups.values():
        columns = zip(*(words for words, _ in group), strict=False)
        shared = len(list(takewhile(lambda several: len(set(several)) == 1, columns)))
        ending = [line for words, line in group if len(words) == shared]
        branch = ResponseNode(" ".join(group[0][0][:shared]), ending[0] if ending else None)
        branch.further = _branches(
            [(words[shared:], line) for words, line in group if len(words) > shared], find_repairs
        )
        branch.repairs = find_repairs(ending[0].text) if ending else []
        found.append(branch)
    return found


def _objects(record: Record, path: Path) -> Iterator[ObjectEpisode]:
    """Return what happened with each object, in order."""
    initial_state, final = _initial_state(record, path), read_state(StarsFinalState, record.result.final, path)
    groups: list[list[Event]] = []
    for event in record.events:
        if isinstance(event, ObjectEvent):
            groups.append([])
        if groups:
            groups[-1].append(event)
    for events in groups:
        first = events[0]
        assert isinstance(first, ObjectEvent), "groups begin with one"
        yield _make_object_episode(first, events, initial_state, final)


def _make_object_episode(
    about: ObjectEvent, events: Sequence[Event], initial_state: StarsInitialState, final: StarsFinalState
) -> ObjectEpisode:
    place = final.places.get(about.thing, "")
    goals, recalled = _events_of_type(events, GoalEvent), _events_of_type(events, RecalledEvent)
    goal = goals[-1] if goals else None
    tree, left_out = _tree(events)
    return ObjectEpisode(
        mood="right" if place in initial_state.wanted.get(about.thing, []) else "wrong",
        seen=about.description,
        place=place,
        wanted=_places(initial_state, about.thing),
        recalled=recalled[0].statement if recalled else "",
        tree=tree,
        left_out=left_out,
        turns=list(_turns(events)),
        goal=goal,
        wrong=describe_mismatches(goal.mismatches) if goal else "",
        acts=_events_of_type(events, ManipulationEvent),
        notes=[each.note.text for each in _events_of_type(events, NoteEvent)],
    )


def _turns(events: Sequence[Event]) -> Iterator[GoalTurn]:
    answers = _events_of_type(events, GoalAnswerEvent)
    said = {answer.question: " ".join(answer.said) or answer.text for answer in answers}
    for event in events:
        if isinstance(event, SelectionEvent) and event.options:
            yield GoalTurn(choice=event)
        elif isinstance(event, GoalQuestionEvent):
            yield GoalTurn(question=event.text, answer=said.get(event.text, ""))


def _tree(events: Sequence[Event]) -> tuple[ResponseTree | None, int]:
    """Return the responses for an object with their repairs, and the number of responses that are left out."""
    first, repairs = _events_of_type(events, RetrievedEvent), _events_of_type(events, RepairEvent)
    if not first:
        return None, 0
    left = _MAX_RESPONSES
    total = sum(len(event.responses) for event in first) + sum(len(event.responses) for event in repairs)

    def take_responses(lines: Sequence[ResponseLine]) -> list[ResponseLine]:
        nonlocal left
        found = list(lines[: max(0, left)])
        left -= len(found)
        return found

    def find_repairs(depth: int) -> FindRepairs:
        """Repairs of that depth, with those of what they brought."""
        return lambda text: [
            ResponseTree(build_response_tree(take_responses(each.responses), find_repairs(depth + 1)), each.reason)
            for each in repairs
            if (each.refused_goal, each.depth) == (text, depth)
        ]

    tree = ResponseTree(build_response_tree(take_responses(first[0].responses), find_repairs(1)))
    return tree, max(0, total - (_MAX_RESPONSES - left))


def _describe_mismatch(mismatch: MismatchLine) -> str:
    what, thing = (mismatch.what or "")[:_LONGEST], (mismatch.thing or "")[:_LONGEST]
    return {
        "uninterpretable": "not understood",
        "unknown-word": f"unknown word: {what}",
        "ungrounded-object": f"not seen: {what}",
        "affordance-mismatch": f"{thing}: not {what}",
    }.get(mismatch.kind, mismatch.kind)


def _places(initial_state: StarsInitialState, thing: str) -> str:
    return " or ".join(initial_state.wanted.get(thing, [])) or "nothing here"


def _events_of_type(events: Sequence[Event], kind: type[_E]) -> list[_E]:
    return [event for event in events if isinstance(event, kind)]


def _initial_state(record: Record, path: Path) -> StarsInitialState:
    return read_state(StarsInitialState, record.header.initial_state, path)
