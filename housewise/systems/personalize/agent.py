"""The agent of LLM-Personalize: a planner whose plans, model calls and rejected replies are recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from housewise.agent.base import Decision, History, total_usage
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, ModelCall, Plan, Planner
from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import ActionStatus
from housewise.language.base import Message, Reply
from housewise.people.house.reactions import reaction_note, spoken_places
from housewise.rollout.note_events import NoteEvent
from housewise.systems.personalize.record import (
    ActionEvent,
    AlternativeReply,
    ModelCallRecord,
    PlanEvent,
    displaced_objects,
)
from housewise.systems.personalize.world import HouseWorld, blocks_plan, make_action_event
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph


class PlannerAgent:
    """A planner as an agent.

    Args:
        planner: Planner that chooses the steps.
        world: World in which replies that are not followed are tried.
        person: Name of the person whose notes say where objects belong in a demonstration, or None for no such notes.
        asks_model: Whether the planner asks a model. If so, the world counts the steps that the model chose.
    """

    def __init__(
        self, planner: Planner, world: HouseWorld, person: str | None = None, asks_model: bool = False
    ) -> None:
        self.name = planner.name
        self._planner, self._world, self._person = planner, world, person
        self._asks_model = asks_model
        self._noted_placements: set[tuple[str, str]] = set()

    def decide(self, observation: SceneGraph, history: History[SceneGraph]) -> Decision[ParsedStep]:
        """See Agent.decide."""
        start = time.perf_counter()
        plan = self._planner.plan(observation, list_attempts(history))
        seconds = time.perf_counter() - start
        usage = total_usage(plan.replies)
        self._world.plans = history.decisions + 1
        event = PlanEvent(
            plan=history.decisions,
            step=history.cost,
            prompt=_turns(plan.messages),
            **_reply_fields(plan),
            model_seconds=seconds,
            complete=plan.complete,
            choice_count=plan.choice_count,
            scene_graph=observation.tree,
            prior_calls=[_call_record(call) for call in plan.prior_calls],
            scores={action: round(score, 3) for action, score in plan.scores.items()},
            alternatives=[_try_plan(other, self._world.robot) for other in plan.alternatives],
        )
        self._world.chosen_by_model = event.chosen_by_model if self._asks_model else None
        for other in plan.alternatives:
            usage = usage.plus(total_usage(other.replies))
        usage = usage.model_copy(update={"model_seconds": seconds})
        return Decision(plan.steps, (event, *self._notes(plan, observation)), plan.complete, usage)

    def _notes(self, plan: Plan, graph: SceneGraph) -> Iterator[NoteEvent]:
        """Yield notes of a demonstration about present and correct receptacles, each placement once."""
        if self._person is None:
            return
        places = spoken_places(self._world.robot.env.world.scene)
        for thing, right in plan.demonstrated.items():
            here = graph.container_of(thing) if thing != graph.holding else None
            for place in dict.fromkeys(place for place in (here, right) if place in places):
                if place is not None and (thing, place) not in self._noted_placements:
                    self._noted_placements.add((thing, place))
                    yield NoteEvent(note=reaction_note(self._person, thing, places[place], place == right))


def list_attempts(history: History[SceneGraph]) -> list[Attempt]:
    """Return everything that was tried in an episode, oldest first, as planners see it."""
    events = (event for step in history.steps for event in step.events if isinstance(event, ActionEvent))
    return [
        Attempt(
            HighLevelAction(ActionKind(event.kind), event.target or "", event.destination),
            event.status == ActionStatus.SUCCEEDED.value,
            event.reason,
        )
        for event in events
        if event.kind is not None
    ]


def _try_plan(plan: Plan, robot: RobotInHouse) -> AlternativeReply:
    """Execute a plan, record its results, and undo it."""
    done, events = True, []
    with robot.dry_run():
        for step in plan.steps:
            result = robot.execute(step.action, step.problem)
            events.append(make_action_event(0, step, result))
            if robot.is_out_of_steps or blocks_plan(step, result):
                done = False
                break
    return AlternativeReply(
        **_reply_fields(plan),
        complete=plan.complete and done,
        reward=sum(event.reward for event in events),
        succeeded_steps=[event.raw for event in events if event.status == ActionStatus.SUCCEEDED.value],
        moved_objects=displaced_objects(events),
        discovered_count=sum(len(event.discovered) for event in events),
    )


def _reply_fields(plan: Plan) -> dict[str, Any]:
    """Return the fields of ReplyRecord: the plan's last reply, and the tokens of all of its replies."""
    reply, usage = plan.reply or Reply(""), total_usage(plan.replies)
    return {
        "reply": plan.text,
        "thoughts": reply.thoughts,
        "finish_reason": plan.reply.finish_reason if plan.reply else "",
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def _call_record(call: ModelCall) -> ModelCallRecord:
    return ModelCallRecord(prompt=_turns(call.messages), **_reply_fields(Plan((), reply=call.reply)))


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [message.turn for message in messages]
