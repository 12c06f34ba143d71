"""Finds errors of an assistant in a session by the rules, the record and what was in view.

The paper has people give each turn of the assistant one of ten labels (appendix A.3.3). These are our words for them.
Each is found only where it can be decided, so that the numbers are lower bounds:

- What an utterance says is read by keywords. What they do not clearly tell is no error.
- Unverified information is found in one form only: an order before the person has named a task. Whether the assistant
  had looked before it spoke, only people can tell.
- An unanswered question is one that silence follows. Whether words answer it, only people can tell.
- An object is overlooked if the person is sent elsewhere for it; "I do not see it" is not understood.
- Of what comes into view, only the thing that the next step needs is to be announced, not everything that is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from housewise.agent.basis.advice import Advice, find_glimpse, next_advice
from housewise.agent.basis.goal_hearing import hear_task, spoken_words
from housewise.people.lab.understanding import understand
from housewise.playback.session_replay import ReplayedTurn, SessionReplay, SessionTurn, describe_action
from housewise.playback.spoken_claims import (
    SpokenAdvice,
    false_states,
    named_in,
    spoken_advice,
    things_of,
    wrong_look,
)
from housewise.worlds.lab.actions import MANIPULATIONS
from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.kinds import FURNITURE, KINDS
from housewise.worlds.lab.planner import make_plan
from housewise.worlds.lab.state import ROOMS, LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace, Surroundings
from housewise.worlds.lab.texts import FRONT_DEGREES

ErrorLabel = Literal[
    "wrong thing", "wrong advice", "wrong place", "overlooked thing", "unfounded advice", "wrong state", "repetition",
    "unannounced thing", "unannounced step", "unanswered question",
]  # fmt: skip

_AHEAD_DEGREES = 25.0
"""A thing that is said to be ahead is not beyond this bearing; what is in view is within 35."""
_RECENT = 3
_ALIKE = 0.75
# Failures that tell nothing of the next step: the person has to go nearer, or has mistaken a thing.
_PLAIN_FAILURES = ("TargetOutOfRange", "TargetInaccessible", "UnsupportedNavigation", "InvalidCommand")


@dataclass(frozen=True)
class GuidanceError:
    """An error of the assistant.

    Attributes:
        attempt: Number of the attempt, from 1.
        turn: Number of the person's action before it, from 1.
        label: Kind of the error.
        why: What is wrong, in words.
    """

    attempt: int
    turn: int
    label: ErrorLabel
    why: str


def find_guidance_errors(attempts: Sequence[Sequence[SessionTurn]], replay: SessionReplay) -> list[GuidanceError]:
    """Return the errors of the assistant in a session, in order.

    What is wrong with what was in view is found only if the replay has seen the lab.

    Args:
        attempts: Turns of the session.
        replay: The session, played again.
    """
    return [
        GuidanceError(number, turn.number, label, why)
        for number, (turns, replayed) in enumerate(zip(attempts, replay.attempts, strict=True), 1)
        for turn, label, why in _find_in_attempt(turns, replayed, replay)
    ]


@dataclass(frozen=True)
class _Utterance:
    """What an utterance is compared by: its words, and the verbs and the kinds of things in it."""

    words: frozenset[str]
    kinds: frozenset[str]
    verbs: frozenset[str | None]

    @classmethod
    def read(cls, speech: str) -> _Utterance:
        """Read an utterance."""
        verbs = frozenset(each.verb for each in understand(speech).instructions)
        return cls(spoken_words(speech), named_in(speech), verbs)

    def is_like(self, other: _Utterance) -> bool:
        """Return whether another utterance says nearly the same."""
        shared, all_words = self.words & other.words, self.words | other.words
        return (self.kinds, self.verbs) == (other.kinds, other.verbs) and len(shared) >= _ALIKE * len(all_words)


@dataclass
class _Conversation:
    """What has been said in an attempt so far.

    Attributes:
        goal_is_named: Whether the person has named their task.
        by_person: Kinds that the person has named.
        by_assistant: Kinds that the assistant has named.
        utterances: What the assistant has said, with the numbers of the turns.
    """

    goal_is_named: bool = False
    by_person: set[str] = field(default_factory=set)
    by_assistant: set[str] = field(default_factory=set)
    utterances: list[tuple[int, _Utterance]] = field(default_factory=list)

    def hear_person(self, turn: SessionTurn) -> None:
        """Take in what the person says."""
        if turn.action.verb == "Speak":
            self.goal_is_named = self.goal_is_named or hear_task(turn.action.argument) is not None
            self.by_person |= named_in(turn.action.argument)

    def hear_assistant(self, turn: SessionTurn) -> None:
        """Take in what the assistant says."""
        if turn.speech:
            self.by_assistant |= named_in(turn.speech)
            self.utterances.append((turn.number, _Utterance.read(turn.speech)))

    def has_just_said(self, turn: SessionTurn) -> bool:
        """Return whether the assistant says nearly the same as a few turns before."""
        now = _Utterance.read(turn.speech)
        return any(now.is_like(said) for number, said in self.utterances if turn.number - number <= _RECENT)


_Found = tuple[SessionTurn, ErrorLabel, str]


def _find_in_attempt(
    turns: Sequence[SessionTurn], replayed: Sequence[ReplayedTurn], replay: SessionReplay
) -> Iterator[_Found]:
    heard, goal = _Conversation(), replay.scenario.goal
    previous: Advice | None = None
    for turn, moment in zip(turns, replayed, strict=True):
        heard.hear_person(turn)
        needed = next_advice(moment.after, goal, OpenSpace())
        if turn.guidance is not None:
            if turn.speech:
                found = _judge_speech(turn, moment, replay, heard)
            else:
                found = _judge_silence(turn, moment, replay, heard, needed, previous)
            reasons: dict[ErrorLabel, str] = {}
            for label, why in found:
                reasons.setdefault(label, why)
            yield from ((turn, label, why) for label, why in reasons.items())
        heard.hear_assistant(turn)
        previous = needed


def _judge_speech(
    turn: SessionTurn, moment: ReplayedTurn, replay: SessionReplay, heard: _Conversation
) -> Iterator[tuple[ErrorLabel, str]]:
    """Yield what is wrong with what the assistant said."""
    state = moment.after
    for advice in spoken_advice(turn.speech):
        yield from _judge_place(advice, state, replay.space if replay.has_view else None)
        if (kind := wrong_look(advice)) is not None:
            yield "wrong thing", f"describes the {KINDS[advice.kind].name} as the {kind.name} looks"
        if (verb := advice.instruction.verb) in MANIPULATIONS and verb is not None:
            if not heard.goal_is_named and advice.kind not in heard.by_person:
                yield "unfounded advice", "the person has named no task yet"
            elif heard.goal_is_named and not _is_useful(advice, state, replay.scenario.goal):
                yield "wrong advice", f"the task does not need to {describe_action(verb, f'{advice.kind}_')}"
    for statement in false_states(turn.speech, state):
        yield "wrong state", f"not so: “{statement}”"
    if turn.action.verb != "Speak" and not turn.has_failed and heard.has_just_said(turn):
        yield "repetition", f"nearly the same was said in the {_RECENT} turns before, and nothing was asked"


def _judge_silence(
    turn: SessionTurn,
    moment: ReplayedTurn,
    replay: SessionReplay,
    heard: _Conversation,
    needed: Advice | None,
    previous: Advice | None,
) -> Iterator[tuple[ErrorLabel, str]]:
    """Yield what the assistant should have said: the most urgent of three remarks."""
    if turn.is_question:
        yield "unanswered question", f"“{turn.action.argument}”"
    if turn.is_question or needed is None or not heard.goal_is_named:
        return
    state = moment.after
    thing = state[needed.thing]
    kind, step = KINDS[thing.kind], describe_action(needed.verb, thing.id)
    is_new = previous is None or (previous.verb, previous.thing) != (needed.verb, needed.thing)
    if turn.has_failed and turn.action.status not in _PLAIN_FAILURES:
        yield "unannounced step", f"the action failed, and the next step is to {step}"
    elif is_new and not kind.is_common and thing.kind not in heard.by_assistant | heard.by_person:
        yield "unannounced step", f"the next step is to {step}, of which nobody has spoken"
    elif (
        replay.has_view
        and thing.kind not in FURNITURE
        and turn.action.argument != thing.id
        and _has_appeared(moment, replay.space, thing)
    ):
        yield "unannounced thing", f"the {kind.name}, which is needed next, has come into view"


def _judge_place(advice: SpokenAdvice, state: LabState, view: Surroundings | None) -> Iterator[tuple[ErrorLabel, str]]:
    """Yield what is wrong with where an advice says that a thing is.

    Args:
        advice: The advice.
        state: State of the lab.
        view: Space of the lab. None if what is in view is not known.
    """
    instruction, name = advice.instruction, KINDS[advice.kind].name
    things = [thing for thing in things_of(state, (advice.kind,)) if thing.id != state.held]
    glimpses = [glimpse for thing in things if view is not None and (glimpse := find_glimpse(state, view, thing.id))]
    if not things:
        return
    room = instruction.room if instruction.verb not in (None, "GotoRoom") else ""
    if room in ROOMS and room != state.room and all(thing.room != room for thing in things):
        if glimpses:
            yield "overlooked thing", f"sends to the {room} for the {name}, which is in view"
        elif view is not None or all(thing.room != state.room for thing in things):
            yield "wrong place", f"there is no {name} in the {room}"
    if instruction.side and view is not None:
        if not glimpses:
            # It may be beside the person.
            if instruction.side == "front" or all(thing.room != state.room for thing in things):
                yield "wrong thing", f"no {name} is in view"
        elif all(not _is_at_side(glimpse.bearing, instruction.side) for glimpse in glimpses):
            bearing = min((glimpse.bearing for glimpse in glimpses), key=abs)
            side = "right" if bearing > 0 else "left"
            yield "wrong place", f"the {name} is {abs(bearing):.0f}° to the {side} of the middle"


def _is_at_side(bearing: float, side: str) -> bool:
    """Return whether a thing may be said to be at a side. The limits are wide, as people's words are."""
    if side == "front":
        return abs(bearing) <= _AHEAD_DEGREES
    return bearing >= -FRONT_DEGREES if side == "right" else bearing <= FRONT_DEGREES


def _is_useful(advice: SpokenAdvice, state: LabState, goal: Goal) -> bool:
    """Return whether the rest of a plan does what is advised. Putting a thing down on furniture frees the hand."""
    verb = advice.instruction.verb
    if (verb == "Place" and advice.kind in FURNITURE) or goal.holds(state):
        return True
    steps = [each.action for each in make_plan(state, goal, OpenSpace())]
    wanted = {thing.id for thing in things_of(state, (advice.kind,))}
    return not steps or any(each.verb == verb and each.argument in wanted for each in steps)


def _has_appeared(moment: ReplayedTurn, view: Surroundings, thing: Thing) -> bool:
    """Return whether a thing is in view after an action and was not before."""
    return thing.id not in moment.turn.seen and find_glimpse(moment.after, view, thing.id) is not None
