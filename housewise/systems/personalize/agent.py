"""The agent of LLM-Personalize: a planner whose plans, model calls and rejected replies are recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from housewise.agent.base import Decision, History, total_usage
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.controller.skills import ActionStatus
from housewise.core.record import Event
from housewise.language.model_timer import ModelTimer
from housewise.rollout.note_events import NoteEvent
from housewise.systems.personalize.alternative_plans import try_plan
from housewise.systems.personalize.plan_events import make_plan_event
from housewise.systems.personalize.record import ActionEvent, SummaryEvent
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import spoken_places


class PlannerAgent:
    """A planner as an agent.

    Args:
        planner: Planner that chooses the steps.
        world: World in which replies that are not followed are tried.
        person: Name of the person whose notes say where objects belong in a demonstration, or None for no such notes.
        asks_model: Whether the planner asks a model. If so, the world counts the steps that the model chose.
        replan_when_blocked: See EpisodeLimits; replies that are not followed are tried in the same way.
        timer: Times the planner's model. None counts no time.
    """

    def __init__(
        self,
        planner: Planner,
        world: HouseWorld,
        person: str | None = None,
        asks_model: bool = False,
        replan_when_blocked: bool = True,
        timer: ModelTimer | None = None,
    ) -> None:
        self._planner, self._world, self._person = planner, world, person
        self._asks_model, self._replan_when_blocked = asks_model, replan_when_blocked
        self._timer = timer or ModelTimer()
        self._noted_placements: set[tuple[str, str]] = set()

    def decide(self, observation: SceneGraph, history: History[SceneGraph]) -> Decision[ParsedStep]:
        """See Agent.decide."""
        before = self._timer.seconds
        plan = self._planner.plan(observation, list_attempts(event for step in history.steps for event in step.events))
        seconds = self._timer.seconds - before
        self._world.plans = history.decisions + 1
        robot, replan = self._world.robot, self._replan_when_blocked
        alternatives = [try_plan(other, robot, replan) for other in plan.alternatives]
        event = make_plan_event(plan, history, observation, alternatives, seconds)
        self._world.chosen_by_model = event.chosen_by_model if self._asks_model else None
        usage = total_usage([call.reply for call in plan.all_calls]).model_copy(update={"model_seconds": seconds})
        summary = (
            () if plan.summary is None else (SummaryEvent(rules=plan.summary.rules, problem=plan.summary.problem),)
        )
        return Decision(plan.steps, (*summary, event, *self._notes(plan, observation)), plan.complete, usage)

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
                    yield self._world.note_reaction(self._person, thing, place, place == right)


def list_attempts(events: Iterable[Event]) -> list[Attempt]:
    """Return what was tried in the actions among some events, in their order, as planners see it."""
    return [
        Attempt(
            HighLevelAction(ActionKind(event.kind), event.target or "", event.destination),
            event.status == ActionStatus.SUCCEEDED.value,
            event.reason,
        )
        for event in events
        if isinstance(event, ActionEvent) and event.kind is not None
    ]
