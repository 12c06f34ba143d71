"""Alternative plans: the robot tries each plan that it does not follow, records the outcome, and undoes it."""

from __future__ import annotations

from housewise.agent.personalize.planner import Plan
from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import ActionStatus
from housewise.systems.personalize.plan_events import reply_fields
from housewise.systems.personalize.record import (
    AlternativeReply,
    displaced_objects,
)
from housewise.systems.personalize.world import blocks_plan, make_action_event


def try_plan(plan: Plan, robot: RobotInHouse, replan_when_blocked: bool) -> AlternativeReply:
    """Execute a plan as far as it would be followed (see EpisodeLimits), record its results, and undo it."""
    done, events = True, []
    with robot.dry_run():
        for step in plan.steps:
            result = robot.execute(step.action, step.problem)
            events.append(make_action_event(0, step, result))
            if robot.is_out_of_steps or (replan_when_blocked and blocks_plan(step, result)):
                done = False
                break
    return AlternativeReply(
        **reply_fields(plan),
        complete=plan.complete and done,
        reward=sum(event.reward for event in events),
        succeeded_steps=[event.raw for event in events if event.status == ActionStatus.SUCCEEDED.value],
        moved_objects=displaced_objects(events),
        discovered_count=sum(len(event.discovered) for event in events),
    )
