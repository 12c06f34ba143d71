"""A session as a world: the assistant speaks, and the person acts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from housewise.agent.basis.descriptions import DescriptionMemory
from housewise.agent.basis.goal_hearing import hear_task
from housewise.agent.basis.scripted_oracle import ScriptedOracle
from housewise.agent.basis.views import AssistantTurn, build_oracle_view
from housewise.core.record import Usage
from housewise.people.lab.views import LabUser, UserTurn, build_user_view
from housewise.rollout.note_events import NoteEvent
from housewise.systems.basis.earlier_turns import EarlierTurns
from housewise.systems.basis.record import BasisFinalState, LabActionEvent
from housewise.worlds.base import Step
from housewise.worlds.lab.actions import LabAction, Verb
from housewise.worlds.lab.history import LabTurn, Naming, clip_speech, record_turn, resolve_user_action
from housewise.worlds.lab.scenario_run import ScenarioRun
from housewise.worlds.lab.scenarios import LabScenario
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import Surroundings

SOLVED = "goal reached"
OUT_UNHEARD = "out of actions, and the person never said what they want in words that are understood"


@dataclass(frozen=True)
class SessionObservation:
    """What views of the assistant are built from.

    Attributes:
        state: State of the lab.
        surroundings: Its space.
        turns: Turns of this attempt; the last one has no speech yet.
        attempt: Number of the attempt, from 1.
        oracle_speech: See GuidanceEvent; for records only.
    """

    state: LabState
    surroundings: Surroundings
    turns: tuple[LabTurn, ...]
    attempt: int
    oracle_speech: str | None = None


@dataclass
class _Attempt:
    """An attempt, and what is counted in it."""

    run: ScenarioRun
    failed: int = 0
    user_turns: int = 0
    assistant_turns: int = 0
    replies: int = 0
    unread: int = 0
    oracle_turns: int = 0
    agreed_turns: int = 0
    silent_turns: int = 0
    oracle_silent_turns: int = 0
    both_silent_turns: int = 0


class LabSession:
    """A person acts in the lab, and an assistant guides by speech (paper, section 3).

    Description:
        After every action of the person the assistant speaks or is silent, and then the person acts again.

    Mission space:
        The person's task, which only they know.

    Action space:
        An ``AssistantTurn``. That of the first decision is ignored: the assistant has opened the conversation.

    Observation space:
        ``SessionObservation``, of which the assistant sees what its role may know.

    Rewards:
        None. ``scores`` has success and subgoals of the first attempt and of all.

    Termination:
        The goal is reached, the person is hurt, or they have used up their actions; in the last attempt.

    Args:
        scenario: The scenario.
        surroundings: Space of the lab.
        open_user: Creates the person of an attempt, by its number from 1.
        max_actions: Maximum number of actions per attempt.
        max_attempts: Maximum number of attempts.
        roles: Roles that models play; see ``System.roles``.
        earlier: Turns of interrupted attempts at the session.
        open_oracle: Creates the scripted oracle of an attempt, which the assistant is compared with. None if the
            assistant is the oracle.
        draw: Returns what the person sees as PNG. None for people without pictures.
        descriptions: Learns how the person understands descriptions. None learns nothing.
        naming: What the person calls uncommon things.
    """

    def __init__(
        self,
        scenario: LabScenario,
        surroundings: Surroundings,
        open_user: Callable[[int], LabUser],
        max_actions: int,
        max_attempts: int,
        roles: Collection[str],
        earlier: EarlierTurns,
        open_oracle: Callable[[int], ScriptedOracle] | None = None,
        draw: Callable[[LabState], bytes] | None = None,
        descriptions: DescriptionMemory | None = None,
        naming: Naming = "fuzzy",
    ) -> None:
        self._scenario, self._surroundings, self._open_user = scenario, surroundings, open_user
        self._max_actions, self._max_attempts = max_actions, max_attempts
        self._roles, self._earlier, self._open_oracle, self._draw = roles, earlier, open_oracle, draw
        self._descriptions, self._naming = descriptions, naming

    def reset(self) -> SessionObservation:
        """See World.reset."""
        self._attempts: list[_Attempt] = []
        self._begin()
        return self._observation()

    def step(self, action: AssistantTurn) -> Step[SessionObservation]:
        """See World.step."""
        now = self._attempts[-1]
        if self._turns:
            self._hear(action, now)
        event = self._act(now)
        notes = self._descriptions.learn(self._turns[-1]) if self._descriptions else []
        events = (event, *(NoteEvent(note=each) for each in notes))
        ending = self._ending(now.run)
        if ending and ending != SOLVED and len(self._attempts) < self._max_attempts:
            self._begin()
            ending = ""
        return Step(self._observation(), events, over=bool(ending), end_reason=ending, usage=event.usage or Usage())

    def scores(self) -> Mapping[str, float]:
        """See World.scores."""
        first, total = self._attempts[0], len(self._scenario.subgoals)
        return {
            "success": float(first.run.is_solved),
            "subgoals": len(first.run.reached) / total,
            "success_all": float(any(each.run.is_solved for each in self._attempts)),
            "subgoals_all": max(len(each.run.reached) for each in self._attempts) / total,
            "steps": first.run.actions,
            "user_turns": first.user_turns,
            "assistant_turns": first.assistant_turns,
            "failed_actions": first.failed,
            "replies": first.replies,
            "unread": first.unread / max(1, first.replies),
            **(self._speech_scores(first) if self._open_oracle else {}),
        }

    @staticmethod
    def _speech_scores(attempt: _Attempt) -> dict[str, float]:
        """Return how often the assistant said what the oracle would have said, had it heard the same session.

        And how often it was silent where the oracle would have been.
        """
        agreed, both_silent = attempt.agreed_turns, attempt.both_silent_turns
        return {
            "speech_precision": agreed / max(1, attempt.assistant_turns),
            "speech_recall": agreed / max(1, attempt.oracle_turns),
            "oracle_turns": attempt.oracle_turns,
            "silence_precision": both_silent / max(1, attempt.silent_turns),
            "silence_recall": both_silent / max(1, attempt.oracle_silent_turns),
            "silent_turns": attempt.silent_turns,
            "oracle_silent_turns": attempt.oracle_silent_turns,
        }

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        return BasisFinalState(
            attempts=[each.run.reached for each in self._attempts],
            successes=[each.run.is_solved for each in self._attempts],
        ).model_dump()

    def _ending(self, run: ScenarioRun) -> str:
        """Return why the attempt is over, or an empty text if it is not."""
        if run.is_solved:
            return SOLVED
        if run.state.ended:
            return f"person {run.state.ended}"
        if run.actions < self._max_actions:
            return ""
        speeches = [each.action.argument for each in self._turns if each.action.verb == "Speak"]
        return "out of actions" if any(map(hear_task, speeches)) else OUT_UNHEARD

    def _begin(self) -> None:
        self._turns: list[LabTurn] = []
        if self._descriptions is not None:
            self._descriptions.begin()
        self._attempts.append(_Attempt(ScenarioRun(self._scenario, self._surroundings)))
        self._user = self._open_user(len(self._attempts))
        self._oracle = self._open_oracle and self._open_oracle(len(self._attempts))

    def _hear(self, turn: AssistantTurn, now: _Attempt) -> None:
        """Let the person hear the assistant, and count the turn."""
        speech = clip_speech(turn.speech) if turn.speech else None
        now.assistant_turns += speech is not None
        now.replies += "agent" in self._roles
        now.unread += not turn.is_parsed
        now.oracle_turns += bool(self._expected)
        now.silent_turns += speech is None
        now.oracle_silent_turns += not self._expected
        now.both_silent_turns += speech is None and not self._expected
        now.agreed_turns += self._oracle is not None and self._oracle.would_say(speech or "")
        self._turns[-1] = self._turns[-1].with_speech(speech)
        if speech is not None and self._descriptions is not None:
            self._descriptions.listen(speech)

    def _act(self, now: _Attempt) -> LabActionEvent:
        """Let the person act, and return the event."""
        before = now.run.state
        turn, action = self._choose(now)
        outcome, reached = now.run.step(action)
        self._turns.append(record_turn(before, self._surroundings, action, outcome))
        now.failed += not outcome.succeeded
        now.user_turns += action.verb == "Speak"
        now.replies += "person" in self._roles
        now.unread += not turn.is_parsed
        return LabActionEvent(
            attempt=len(self._attempts),
            number=now.run.actions,
            thought=turn.thought,
            verb=action.verb,
            argument=action.argument,
            status=outcome.status,
            message=outcome.message,
            is_parsed=turn.is_parsed,
            room=now.run.state.room,
            subgoals=reached,
            usage=turn.usage if turn.usage != Usage() else None,
        )

    def _choose(self, now: _Attempt) -> tuple[UserTurn, LabAction]:
        """Return the person's next turn, and its action with true ids."""
        state = now.run.state
        earlier = self._earlier.action(len(self._attempts), now.run.actions + 1)
        if earlier is not None:
            action = LabAction(cast(Verb, earlier.verb), earlier.argument)
            return UserTurn(earlier.thought, action, earlier.is_parsed, earlier.usage or Usage()), action
        picture = self._draw(state) if self._draw else None
        began = time.perf_counter()
        view = build_user_view(state, self._surroundings, self._scenario.mission, self._turns, picture, self._naming)
        turn = self._user.act(view)
        if turn.usage != Usage():
            turn = replace(turn, usage=turn.usage.plus(Usage(model_seconds=time.perf_counter() - began)))
        action = resolve_user_action(state, turn.action, self._naming)
        return turn, replace(action, argument=clip_speech(action.argument))

    def _observation(self) -> SessionObservation:
        state, turns = self._attempts[-1].run.state, tuple(self._turns)
        self._expected = None
        if self._oracle is not None and turns:
            self._expected = self._oracle.turn(build_oracle_view(state, self._surroundings, turns)).speech or ""
        return SessionObservation(state, self._surroundings, turns, len(self._attempts), self._expected)
