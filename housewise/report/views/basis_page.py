"""The content of the page of a BASIS session: map, transcript, pictures of what the person saw, and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.playback.guidance_errors import GuidanceError, find_guidance_errors
from housewise.playback.lab_plan import draw_lab_plan
from housewise.playback.session_replay import (
    ReplayedTurn,
    SessionReplay,
    SessionTurn,
    read_attempts,
    read_initial_state,
    replay_session,
)
from housewise.report.drawing.images import compress, data_uri
from housewise.report.drawing.lab_map import lab_map_svg
from housewise.report.views.base import RecordContent, read_state
from housewise.systems.basis.record import BasisFinalState, BasisInitialState
from housewise.worlds.lab.camera_picture import PICTURE_SIZE, scene_key
from housewise.worlds.lab.geometry import LabSpace

_MAX_TURNS = 500
"""Maximum number of turns on a page. The others are counted."""


@dataclass(frozen=True)
class SubgoalLine:
    """A subgoal, and the number of the turn at which it was reached; None if it never was."""

    name: str
    turn: int | None


@dataclass(frozen=True)
class SessionRow:
    """A turn on a page.

    Attributes:
        turn: The turn as it was recorded.
        errors: Errors of the assistant in it.
        picture: Data URI of what the person saw after the action, or an empty text.
        alt: Text for screen readers in place of the picture.
    """

    turn: SessionTurn
    errors: list[GuidanceError]
    picture: str = ""
    alt: str = ""


@dataclass(frozen=True)
class AttemptCard:
    """An attempt on a page.

    Attributes:
        number: Its number, from 1.
        succeeded: Whether it reached the goal.
        subgoals: The subgoals in order.
        turns: Number of its turns.
        rows: Those that are shown.
        map: Map of the person's path. None if the attempt cannot be played again.
    """

    number: int
    succeeded: bool
    subgoals: list[SubgoalLine]
    turns: int
    rows: list[SessionRow]
    map: Markup | None


@dataclass(frozen=True, kw_only=True)
class BasisContent(RecordContent):
    """A session.

    Attributes:
        initial_state: The scenario.
        attempts: Its attempts.
        errors: Number of errors of the assistant, by label.
        size: Width and height of the pictures, pixels.
    """

    initial_state: BasisInitialState
    attempts: list[AttemptCard]
    errors: dict[str, int]
    size: int = PICTURE_SIZE
    template: str = "basis.html"

    @property
    def has_pictures(self) -> bool:
        """Whether there are pictures of what the person saw."""
        return any(row.picture for attempt in self.attempts for row in attempt.rows)


@dataclass
class _Replayed:
    """What is known of a session because it could be played again."""

    replay: SessionReplay | None = None
    errors: list[GuidanceError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make_basis_content(shared: dict[str, Any], record: Record, path: Path, with_pictures: bool) -> BasisContent:
    """Return the page content of a session.

    If the session cannot be played again, the content has neither maps nor pictures nor errors, and a note gives the
    reason.

    Args:
        shared: Fields of `RecordContent`.
        record: Record of the session.
        path: Path of the record.
        with_pictures: Whether there are pictures of what the person saw.
    """
    initial, final = read_initial_state(record, path), read_state(BasisFinalState, record.result.final, path)
    attempts = read_attempts(record)
    starts = [sum(map(len, attempts[:place])) for place in range(len(attempts))]
    shown = [turns[: max(0, _MAX_TURNS - start)] for turns, start in zip(attempts, starts, strict=True)]
    played = _play_again(initial, shown)
    cards = [
        _card(place, turns, shown[place], final.successes[place : place + 1] == [True], initial, played, with_pictures)
        for place, turns in enumerate(attempts)
    ]
    return BasisContent(
        **shared,
        initial_state=initial,
        attempts=cards,
        errors=dict(Counter(each.label for each in played.errors).most_common()),
        left_out=sum(map(len, attempts)) - sum(map(len, shown)),
        complete=played.replay is not None,
        notes=played.notes,
    )


def _play_again(initial: BasisInitialState, attempts: Sequence[Sequence[SessionTurn]]) -> _Replayed:
    try:
        replay = replay_session(initial, attempts)
        errors = [] if replay.differences else find_guidance_errors(attempts, replay)
    except UserError as error:
        return _Replayed(notes=[f"No map and no pictures of this session: {error}"])
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Records of other programs may be wrong in unexpected ways.
        return _Replayed(notes=[f"No map and no pictures of this session: its record can't be followed ({error!r})"])
    if replay.differences:
        note = (
            "Maps and pictures may differ from what happened, and errors of the assistant are not shown: the recorded "
            f"actions had other results when they were played again ({replay.summary_of_differences}). The record was "
            "probably made by another version; its words and numbers are shown as they are."
        )
        return _Replayed(replay, notes=[note])
    return _Replayed(replay, errors)


def _card(
    place: int,
    turns: Sequence[SessionTurn],
    shown: Sequence[SessionTurn],
    succeeded: bool,
    initial: BasisInitialState,
    played: _Replayed,
    with_pictures: bool,
) -> AttemptCard:
    """Return an attempt by its place, from 0."""
    reached = {name: turn.number for turn in turns for name in turn.action.subgoals}
    replayed = played.replay.attempts[place] if played.replay else []
    rows = []
    for turn in shown:
        moment = replayed[turn.number - 1] if replayed else None
        errors = [each for each in played.errors if (each.attempt, each.turn) == (place + 1, turn.number)]
        row = SessionRow(turn, errors)
        if moment and played.replay and with_pictures and _is_pictured(turn, moment):
            row = _with_picture(row, moment, played.replay)
        rows.append(row)
    return AttemptCard(
        place + 1,
        succeeded,
        [SubgoalLine(name, reached.get(name)) for name in initial.subgoals],
        len(turns),
        rows,
        _map(place, replayed, reached, played.replay) if played.replay and replayed else None,
    )


def _is_pictured(turn: SessionTurn, moment: ReplayedTurn) -> bool:
    """Return whether somebody spoke, or something but the direction of view changed."""
    is_changed = scene_key(moment.before) != scene_key(moment.after) or moment.before.room != moment.after.room
    return bool(turn.speech) or turn.action.verb == "Speak" or is_changed


def _with_picture(row: SessionRow, moment: ReplayedTurn, replay: SessionReplay) -> SessionRow:
    assert isinstance(replay.space, LabSpace), "pages show sessions in the lab's geometry"
    picture = data_uri(compress(replay.space.view.picture(moment.after).rgb))
    alt = f"What the person saw after turn {row.turn.number}, in the {moment.after.room}"
    return replace(row, picture=picture, alt=alt)


def _map(place: int, replayed: Sequence[ReplayedTurn], reached: dict[str, int], replay: SessionReplay) -> Markup:
    assert isinstance(replay.space, LabSpace), "pages show sessions in the lab's geometry"
    layout, scenario = replay.space.layout, replay.scenario
    bodies = [replayed[0].before.body, *(moment.after.body for moment in replayed)]
    used = {moment.turn.thing.id for moment in replayed if moment.turn.thing is not None}
    title = f"Map of attempt {place + 1}: {scenario.mission}"
    return lab_map_svg(draw_lab_plan(layout, scenario.fixtures), layout.navmesh, bodies, reached, used, title)
