"""Replays the actions of a BASIS session, to see what was where at each turn and what the person saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.printable_text import excerpt
from housewise.core.record import Record
from housewise.core.validation import validate_model
from housewise.systems.basis.record import BasisInitialState, GuidanceEvent, LabActionEvent
from housewise.worlds.lab.actions import ARGUMENTS, ActionOutcome, LabAction
from housewise.worlds.lab.geometry import LabSpace, open_lab_space
from housewise.worlds.lab.history import LabTurn, record_turn
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import DONE
from housewise.worlds.lab.scenario_run import ScenarioRun
from housewise.worlds.lab.scenarios import LabScenario, Split, draw_scenario, find_variant
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import OpenSpace, Surroundings

_MAX_DIFFERENCES = 3

_WORDS = {
    "MoveForward": "walk {} m ahead", "MoveBackward": "walk {} m back", "RotateLeft": "turn {}° to the left",
    "RotateRight": "turn {}° to the right", "LookUp": "look up by {}°", "LookDown": "look down by {}°",
    "GotoRoom": "go to {}", "GotoObject": "go to {}", "Pickup": "pick up {}", "Place": "put it on or in {}",
    "Open": "open {}", "Close": "close {}", "Toggle": "toggle {}", "Break": "break {}", "Pour": "pour into {}",
    "Throw": "throw at {}",
}  # fmt: skip


@dataclass(frozen=True)
class SessionTurn:
    """An action of the person as it was recorded, and what the assistant answered.

    Attributes:
        number: Number of the action in its attempt, from 1.
        action: The action.
        guidance: Turn of the assistant after it. None after the last action of an attempt.
    """

    number: int
    action: LabActionEvent
    guidance: GuidanceEvent | None = None

    @property
    def speech(self) -> str:
        """What the assistant said after the action; empty if it was silent."""
        return self.guidance.speech if self.guidance else ""

    @property
    def utterance(self) -> str:
        """What the person said; empty if they did something else."""
        return self.action.argument if self.action.verb == "Speak" else ""

    @property
    def act(self) -> str:
        """What the person did, in words; empty if they spoke."""
        return describe_action(self.action.verb, self.action.argument)

    @property
    def is_question(self) -> bool:
        """Whether the person asks something."""
        return "?" in self.utterance

    @property
    def has_failed(self) -> bool:
        """Whether the action failed."""
        return self.action.status != DONE.status


@dataclass(frozen=True)
class ReplayedTurn:
    """A turn as it comes out when it is played again.

    Attributes:
        before: State before the action.
        after: State after it.
        turn: The action with its outcome, as roles know it.
    """

    before: LabState
    after: LabState
    turn: LabTurn


@dataclass
class SessionReplay:
    """A session that is played again.

    Attributes:
        scenario: Its scenario.
        space: Space of the lab.
        attempts: Turns of each attempt, in the order of the record.
        differences: What differs from the record. Empty if nothing does.
    """

    scenario: LabScenario
    space: Surroundings
    attempts: list[list[ReplayedTurn]] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def has_view(self) -> bool:
        """Whether it is known what was in view."""
        return isinstance(self.space, LabSpace)

    @property
    def summary_of_differences(self) -> str:
        """The first differences, in a line; empty if there are none."""
        further = len(self.differences) - _MAX_DIFFERENCES
        shown = self.differences[:_MAX_DIFFERENCES] + ([f"{plural(further, 'more')}"] if further > 0 else [])
        return "; ".join(shown)


def read_initial_state(record: Record, path: Path) -> BasisInitialState:
    """Return the initial state of a session.

    Raises:
        UserError: The record lacks what it needs.
    """
    remedy = "delete the file to run the episode again"
    return validate_model(BasisInitialState, record.header.initial_state, path, remedy)


def describe_action(verb: str, argument: str) -> str:
    """Return an action in words, such as "pick up the hammer"; empty for speech.

    Args:
        verb: What is done.
        argument: What with, as in LabAction.
    """
    if verb not in _WORDS:
        return "" if verb == "Speak" else f"{verb} {argument}".strip()
    kind = KINDS.get(argument.rpartition("_")[0])
    named = argument if kind is None else f"the {kind.name}"
    return _WORDS[verb].format(f"the {argument.replace('_', ' ')}" if verb == "GotoRoom" else named)


def read_attempts(record: Record) -> list[list[SessionTurn]]:
    """Return the turns of each attempt of a session."""
    attempts: list[list[SessionTurn]] = []
    number = 0
    for event in record.events:
        if isinstance(event, LabActionEvent):
            if event.attempt != number:
                attempts.append([])
                number = event.attempt
            attempts[-1].append(SessionTurn(len(attempts[-1]) + 1, event))
        elif isinstance(event, GuidanceEvent) and attempts:
            attempts[-1][-1] = replace(attempts[-1][-1], guidance=event)
    return attempts


class FollowedSpace(OpenSpace):
    """A space that trusts a record: what was done was in reach, and the person is where the record says."""

    def in_reach(self, state: LabState, id: str) -> bool:
        """See Surroundings.in_reach."""
        return True


def replay_session(
    initial: BasisInitialState, attempts: Sequence[Sequence[SessionTurn]], with_view: bool = True
) -> SessionReplay:
    """Play the recorded actions of a session again.

    Args:
        initial: The session's initial state.
        attempts: Its turns; see read_attempts.
        with_view: Whether the person moves in the lab's geometry, which takes about 40 ms a turn. Otherwise the
            record is followed: only its successful actions are carried out, in a hundredth of the time.

    Raises:
        UserError: This version has no such scenario, or an action is none.
    """
    split: Split = "test" if initial.split == "test" else "training"
    scenario = draw_scenario(find_variant(initial.variant), initial.seed, split)
    space: Surroundings = _open_space(scenario) if with_view else FollowedSpace()
    replay = SessionReplay(scenario, space)
    if [each.name for each in scenario.subgoals] != initial.subgoals:
        replay.differences.append("the scenario has other subgoals")
    for number, turns in enumerate(attempts, 1):
        run = ScenarioRun(scenario, space)
        replay.attempts.append([])
        for turn in turns:
            where = f"attempt {number}, turn {turn.number}"
            replay.attempts[-1].append(_play(run, turn, space, where, replay.differences))
    return replay


def _play(run: ScenarioRun, turn: SessionTurn, space: Surroundings, where: str, differences: list[str]) -> ReplayedTurn:
    """Carry out a recorded action, and note how its outcome differs from the record."""
    recorded, before = turn.action, run.state
    if recorded.verb not in ARGUMENTS:
        raise UserError(f"{where}: this version has no action {excerpt(recorded.verb)}")
    action = LabAction(recorded.verb, recorded.argument)
    if isinstance(space, FollowedSpace) and turn.has_failed:
        outcome = ActionOutcome(recorded.status, recorded.message)  # type: ignore[arg-type]
    else:
        outcome, reached = run.step(action)
        if isinstance(space, FollowedSpace):
            run.state = replace(run.state, room=recorded.room)
        if outcome.status != recorded.status:
            differences.append(f"{where}: {outcome.status} instead of {excerpt(recorded.status)}")
        elif run.state.room != recorded.room:
            differences.append(f"{where}: in the {run.state.room} instead of the {excerpt(recorded.room)}")
        elif reached != recorded.subgoals:
            differences.append(f"{where}: other subgoals reached")
    return ReplayedTurn(before, run.state, record_turn(before, space, action, outcome).with_speech(turn.speech or None))


@lru_cache(maxsize=4)
def _open_space(scenario: LabScenario) -> LabSpace:
    """Return the space of a scenario. It is cached, as sessions of one scenario often follow each other."""
    return open_lab_space(scenario)
