"""The world of LLM-Personalize: a house with a robot in it, whose actions are the steps of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.controller.robot import ActionResult, RobotInHouse
from housewise.controller.skills import ActionStatus
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory.note import later_time
from housewise.rollout.note_events import NoteEvent
from housewise.systems.personalize.record import ActionEvent
from housewise.worlds.base import Step
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph
from housewise.worlds.house.shortest_steps import estimate_shortest_steps
from housewise.worlds.house.spoken_names import spoken_places

_PREREQUISITES = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


class HouseWorld:
    """A house with a robot in it. An action is one step of a plan.

    Description:
        ``RearrangementEnv`` with high-level actions, which the controller carries out (LLM-Personalize, section 3.2).

    Mission space:
        Put every object where the house's person wants it.

    Action space:
        ``ParsedStep``: go to, look at, pick up or place, or text that was not understood and fails.

    Observation space:
        ``SceneGraph``: what the robot has seen so far.

    Rewards:
        +1 for placing an object on a correct receptacle, -1 for taking one away from a correct receptacle.

    Termination:
        The planner declares the task complete. Truncation when the low-level steps of the environment are used up.

    Args:
        robot: The robot in its house, before the first action.
        person: Name of the person whose reactions to moved objects become notes. None records no reactions.

    Attributes:
        plans: Number of plans so far.
        chosen_by_model: Whether the model chose the current plan. None for planners without a model.
    """

    def __init__(self, robot: RobotInHouse, person: str | None = None) -> None:
        self.robot, self._person = robot, person
        self._places = spoken_places(robot.env.world.scene)
        self.plans = 0
        self.chosen_by_model: bool | None = None
        self._step_counts: Counter[bool | None] = Counter()
        self._statuses: Counter[ActionStatus] = Counter()
        self._placed: set[tuple[str, str]] = set()
        self._last_correct: int | None = None
        self._last_note_time: str | None = None

    def reset(self) -> SceneGraph:
        """See World.reset."""
        return self.robot.graph

    def step(self, action: ParsedStep) -> Step[SceneGraph]:
        """See World.step."""
        result = self.robot.execute(action.action, action.problem)
        self._statuses[result.outcome.status] += 1
        self._step_counts[self.chosen_by_model] += 1
        self._placed |= {(name, place) for name, (_, place) in result.moves.items() if place != ROBOT}
        event = make_action_event(self.plans - 1, action, result)
        self._last_correct = event.correct_placement_step or self._last_correct
        return Step(
            self.robot.graph,
            (event, *self._reactions(result)),
            result.end - result.start,
            blocks_plan(action, result),
            self.robot.is_out_of_steps,
        )

    def _reactions(self, result: ActionResult) -> Iterator[NoteEvent]:
        """Yield the person's reactions to the object that an action moved."""
        if self._person is None:
            return
        for thing, (before, after) in result.moves.items():
            if before == ROBOT and after in self._places:
                yield self.note_reaction(self._person, thing, after, result.reward > 0)
            elif after == ROBOT and before in self._places:
                yield self.note_reaction(self._person, thing, before, result.reward < 0)

    def note_reaction(self, person: str, thing: str, place: str, wanted: bool) -> NoteEvent:
        """Return the note of a reaction, later than all earlier ones of the episode.

        Memories order notes by time. Notes of one millisecond would stand in an order that differs between runs.

        Args:
            person: The person in whose memory the note is stored.
            thing: Name of the thing.
            place: Name of the receptacle where it is or was.
            wanted: Whether the person wants it there.
        """
        self._last_note_time = later_time(self._last_note_time)
        return NoteEvent(note=reaction_note(person, thing, self._places[place], wanted, self._last_note_time))

    def scores(self) -> dict[str, float]:
        """See World.scores."""
        env, world = self.robot.env, self.robot.env.world
        misplaced, actions = len(world.episode.misplaced_objects), self._statuses.total()
        scores: dict[str, float] = {
            "success_rate": world.success_rate,
            "correct_start": len(world.objects) - misplaced,
            "correct_end": sum(world.correct_by_object.values()),
            "misplaced_start": misplaced,
            "objects": len(world.objects),
            "actions": actions,
            **{status.value: self._statuses[status] for status in ActionStatus},
            "unique_placements": len(self._placed),
        }
        if actions:
            scores["executability"] = self._statuses[ActionStatus.SUCCEEDED] / actions
        if model_steps := self._step_counts[True] + self._step_counts[False]:
            scores["own_choice"] = self._step_counts[True] / model_steps
        if self._last_correct is not None:
            scores["last_correct_step"] = self._last_correct
        if (shortest := estimate_shortest_steps(world.scene, world.episode)) is not None:
            scores["shortest_steps"] = shortest
            scores["efficiency"] = max(0.0, world.success_rate) * shortest / max(shortest, env.steps)
        return scores

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        return {"placements": self.robot.placements}


def make_action_event(plan: int, step: ParsedStep, result: ActionResult) -> ActionEvent:
    """Return the event of a plan's step and its result."""
    action = step.action
    return ActionEvent(
        plan=plan,
        raw=step.raw,
        action=str(action) if action else None,
        kind=action.kind.value if action else None,
        target=action.target if action else None,
        destination=action.destination if action else None,
        status=result.outcome.status.value,
        reason=result.outcome.reason,
        start=result.start,
        end=result.end,
        low_level_actions=result.low_level_actions,
        aim_targets=result.aim_targets,
        path=result.path,
        discovered=result.discovered,
        moves=result.moves,
        reward=result.reward,
        seconds=result.seconds,
    )


def blocks_plan(step: ParsedStep, result: ActionResult) -> bool:
    """Whether later steps of a plan depend on a step that failed."""
    kind = step.action.kind if step.action else None
    return result.outcome.status != ActionStatus.SUCCEEDED and kind in _PREREQUISITES
