"""The robot's house as a world, and a planner as an agent in it: both put what happens into the record's words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from housewise.agent.base import Decision, History, total_usage
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, ModelCall, Plan, Planner
from housewise.controller.robot import ActionResult, RobotInHouse
from housewise.controller.skills import ActionStatus
from housewise.language.base import Message
from housewise.people.house.reactions import ReactingUser, spoken_places
from housewise.rollout.note_events import NoteEvent
from housewise.systems.personalize.record import (
    ActionEvent,
    AlternativeReply,
    ModelCallRecord,
    PlanEvent,
    displaced_objects,
)
from housewise.worlds.base import Step
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph
from housewise.worlds.house.shortest import shortest_steps

_BUILT_UPON = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


class HouseWorld:
    """A house with a robot in it; an action is a line of a plan.

    Args:
        robot: in its house, where nothing has happened yet.
        person: reacts to what is moved, in notes; None where nobody's reactions are remembered.
    """

    def __init__(self, robot: RobotInHouse, person: ReactingUser | None = None) -> None:
        self.robot, self._person = robot, person
        self._places = spoken_places(robot.env.world.scene)
        self.plans = 0
        self.chosen_by_model: bool | None = None
        """Whether the model chose the plan that is being carried out; None for a planner that asks no model."""
        self._chosen: Counter[bool | None] = Counter()
        self._statuses: Counter[ActionStatus] = Counter()
        self._placed: set[tuple[str, str]] = set()
        self._last_correct: int | None = None

    def reset(self) -> SceneGraph:
        """See World.reset."""
        return self.robot.graph

    def step(self, action: ParsedStep) -> Step[SceneGraph]:
        """See World.step."""
        carried = self.robot.execute(action.action, action.problem)
        self._statuses[carried.outcome.status] += 1
        self._chosen[self.chosen_by_model] += 1
        self._placed |= {(name, place) for name, (_, place) in carried.moved.items() if place != ROBOT}
        event = make_action_event(self.plans - 1, action, carried)
        self._last_correct = event.correct_placement_step or self._last_correct
        return Step(
            self.robot.graph,
            (event, *self._reactions(carried)),
            carried.end - carried.start,
            blocks(action, carried),
            self.robot.is_out_of_steps,
        )

    def _reactions(self, carried: ActionResult) -> Iterator[NoteEvent]:
        """What the person says to what was moved; an action moves one thing."""
        if self._person is None:
            return
        for thing, (before, after) in carried.moved.items():
            if before == ROBOT and after in self._places:
                yield NoteEvent(note=self._person.react_to_placement(thing, self._places[after], carried.reward))
            elif after == ROBOT and before in self._places:
                yield NoteEvent(note=self._person.react_to_removal(thing, self._places[before], carried.reward))

    def scores(self) -> dict[str, float]:
        """See World.scores."""
        env, world = self.robot.env, self.robot.env.world
        misplaced, actions = len(world.episode.misplaced), self._statuses.total()
        found: dict[str, float] = {
            "success_rate": world.success_rate,
            "correct_start": len(world.objects) - misplaced,
            "correct_end": sum(world.correct.values()),
            "misplaced_start": misplaced,
            "objects": len(world.objects),
            "actions": actions,
            **{status.value: self._statuses[status] for status in ActionStatus},
            "unique_placements": len(self._placed),
        }
        if actions:
            found["executability"] = self._statuses[ActionStatus.SUCCEEDED] / actions
        if answered := self._chosen[True] + self._chosen[False]:
            found["own_choice"] = self._chosen[True] / answered
        if self._last_correct is not None:
            found["last_correct_step"] = self._last_correct
        if (shortest := shortest_steps(world.scene, world.episode)) is not None:
            found["shortest_steps"] = shortest
            found["efficiency"] = max(0.0, world.success_rate) * shortest / max(shortest, env.steps)
        return found

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        return {"placements": self.robot.placements}


class PlannerAgent:
    """A planner as an agent.

    Args:
        planner: decides.
        world: in which replies are tried that are not followed.
        person: who shows where things belong where the planner demonstrates that, in notes; None where nobody is
            remembered, or nothing but what is moved.
        asks_model: whether the planner asks a model, of whose plans it is counted which the model chose.
    """

    def __init__(
        self, planner: Planner, world: HouseWorld, person: ReactingUser | None = None, asks_model: bool = False
    ) -> None:
        self.name = planner.name
        self._planner, self._world, self._person = planner, world, person
        self._asks_model = asks_model
        self._shown: set[tuple[str, str]] = set()

    def decide(self, observation: SceneGraph, history: History[SceneGraph]) -> Decision[ParsedStep]:
        """See Agent.decide."""
        began = time.perf_counter()
        plan = self._planner.plan(observation, list_attempts(history))
        seconds = time.perf_counter() - began
        usage = total_usage(plan.replies)
        self._world.plans = history.decisions + 1
        event = PlanEvent(
            plan=history.decisions,
            step=history.cost,
            prompt=_prompt(plan.messages),
            reply=plan.text,
            thoughts=plan.reply.thoughts if plan.reply else "",
            finish_reason=plan.reply.finish_reason if plan.reply else "",
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            model_seconds=seconds,
            complete=plan.complete,
            choices=plan.choices,
            known=observation.tree,
            earlier=[_exchange(exchange) for exchange in plan.earlier],
            scores={action: round(score, 3) for action, score in plan.scores.items()},
            tried=[_tried(other, self._world.robot) for other in plan.others],
        )
        self._world.chosen_by_model = event.chosen_by_model if self._asks_model else None
        for other in plan.others:
            usage = usage.plus(total_usage(other.replies))
        usage = usage.model_copy(update={"model_seconds": seconds})
        return Decision(plan.steps, (event, *self._notes(plan, observation)), plan.complete, usage)

    def _notes(self, plan: Plan, graph: SceneGraph) -> Iterator[NoteEvent]:
        """What a demonstration shows of things where they are, and of where they belong, each once."""
        if self._person is None:
            return
        places = spoken_places(self._world.robot.env.world.scene)
        for thing, right in plan.shown.items():
            here = graph.place_of(thing) if thing != graph.holding else None
            for place in dict.fromkeys(place for place in (here, right) if place in places):
                if place is not None and (thing, place) not in self._shown:
                    self._shown.add((thing, place))
                    yield NoteEvent(note=self._person.react_to_demonstration(thing, places[place], place == right))


def list_attempts(history: History[SceneGraph]) -> list[Attempt]:
    """Everything tried in an episode, oldest first, as planners learn of it."""
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


def make_action_event(plan: int, step: ParsedStep, carried: ActionResult) -> ActionEvent:
    """What is recorded of a line of a plan."""
    action = step.action
    return ActionEvent(
        plan=plan,
        raw=step.raw,
        action=str(action) if action else None,
        kind=action.kind.value if action else None,
        target=action.target if action else None,
        destination=action.destination if action else None,
        status=carried.outcome.status.value,
        reason=carried.outcome.reason,
        start=carried.start,
        end=carried.end,
        low_level=carried.letters,
        aimed=carried.aimed,
        path=carried.path,
        discovered=carried.discovered,
        moved=carried.moved,
        reward=carried.reward,
        seconds=carried.seconds,
    )


def blocks(step: ParsedStep, carried: ActionResult) -> bool:
    """Whether the rest of a plan builds on a line that did not work."""
    kind = step.action.kind if step.action else None
    return carried.outcome.status != ActionStatus.SUCCEEDED and kind in _BUILT_UPON


def _tried(plan: Plan, robot: RobotInHouse) -> AlternativeReply:
    """Carry out a plan, see what comes of it, and take it back."""
    done, events = True, []
    with robot.dry_run():
        for step in plan.steps:
            carried = robot.execute(step.action, step.problem)
            events.append(make_action_event(0, step, carried))
            if robot.is_out_of_steps or blocks(step, carried):
                done = False
                break
    usage = total_usage(plan.replies)
    return AlternativeReply(
        reply=plan.text,
        thoughts=plan.reply.thoughts if plan.reply else "",
        finish_reason=plan.reply.finish_reason if plan.reply else "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        complete=plan.complete and done,
        reward=sum(event.reward for event in events),
        done=[event.raw for event in events if event.status == ActionStatus.SUCCEEDED.value],
        moved=displaced_objects(events),
        discovered=sum(len(event.discovered) for event in events),
    )


def _prompt(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [message.turn for message in messages]


def _exchange(exchange: ModelCall) -> ModelCallRecord:
    reply = exchange.reply
    return ModelCallRecord(
        prompt=_prompt(exchange.messages),
        reply=reply.text,
        thoughts=reply.thoughts,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
