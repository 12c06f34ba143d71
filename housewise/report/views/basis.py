"""Shows sessions of BASIS: the task, a map, and turn by turn what the person did and what the assistant said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.record import Header, Record, Result
from housewise.playback.guidance_errors import find_guidance_errors
from housewise.playback.session_replay import SessionTurn, read_attempts, read_initial_state, replay_session
from housewise.report.views.base import (
    EpisodeContent,
    EpisodeView,
    InitialFact,
    SaveFilm,
    TurnCell,
    parse_initial_state,
)
from housewise.systems.basis.record import BasisInitialState
from housewise.worlds.house.simulator import SimulatorChoice

_MAX_WORDS = 4000
"""Characters of a session that the search in the index finds."""
_UNKNOWN = "cannot be played again"


class BasisView(EpisodeView):
    """View of BASIS; see `EpisodeView`. A session that succeeds may have errors too, so that none is perfect."""

    explanation = (
        "Success and subgoals are those of the first attempt, mean ± standard error over tasks; the other figures are "
        "means of an episode. What went wrong are errors of the assistant that follow from the record, the rules and "
        "the words that are understood by keywords, so that they are fewer than a person would find. The page of a "
        "session adds those about what was in view."
    )
    has_pictures = True
    has_turns = True

    def __init__(self) -> None:
        super().__init__("basis")
        self.columns = [
            "subgoals, %",
            "any attempt, %",
            "best attempt, %",
            *(each.column or each.heading for each in self._scores[4:]),
        ]

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See `EpisodeView`: errors of the assistant by label, without those about what was in view."""
        attempts, initial = read_attempts(record), read_initial_state(record, path)
        try:
            replay = replay_session(initial, attempts, with_view=False)
        except (UserError, ArithmeticError, LookupError, TypeError, ValueError):
            # The page says why it cannot be played again.
            return {_UNKNOWN: 1}
        if replay.differences:
            return {_UNKNOWN: 1}
        return Counter(error.label for error in find_guidance_errors(attempts, replay))

    def describe_ending(self, header: Header, result: Result) -> str:
        """See `EpisodeView`."""
        return result.end_reason

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """See `EpisodeView`: the task and its subgoals."""
        initial_state = parse_initial_state(BasisInitialState, header)
        if initial_state is None:
            return []
        return [InitialFact("", initial_state.mission, f"subgoals: {', '.join(initial_state.subgoals)}")]

    def list_turns(self, record: Record) -> list[TurnCell]:
        """See `EpisodeView`."""
        return [_turn_cell(turn) for turns in read_attempts(record) for turn in turns]

    def spoken_words(self, record: Record) -> str:
        """See `EpisodeView`: what the person and the assistant said, each sentence once."""
        turns = [turn for turns in read_attempts(record) for turn in turns]
        spoken = [text for turn in turns for text in (turn.utterance, turn.speech) if text]
        return " ".join(dict.fromkeys(spoken))[:_MAX_WORDS]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> EpisodeContent:
        """See `EpisodeView`. The pictures are those of the lab's own ray caster."""
        # Drawing libraries take long to import.
        from housewise.report.views.basis_page import make_basis_content

        shared = self.shared_fields(number, record)
        shared["mood"] = "right" if record.result.scores.get("success") == 1 else "partly"
        return make_basis_content(shared, record, path, simulator is not None)


def _turn_cell(turn: SessionTurn) -> TurnCell:
    action = turn.action
    return TurnCell(
        action.attempt,
        turn.number,
        turn.act,
        speech=turn.utterance,
        failed=(action.message or action.status) if turn.has_failed else "",
        answer=turn.speech,
        reached=action.subgoals,
    )
