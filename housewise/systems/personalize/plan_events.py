"""Plan events: what a record keeps of a plan, of its model calls and of its alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from housewise.agent.base import History, total_usage
from housewise.agent.personalize.planner import ModelCall, Plan
from housewise.language.base import Message, Reply
from housewise.systems.personalize.record import (
    AlternativeReply,
    ModelCallRecord,
    PlanEvent,
)
from housewise.worlds.house.scene_graph import SceneGraph


def make_plan_event(
    plan: Plan,
    history: History[SceneGraph],
    observation: SceneGraph,
    alternatives: Sequence[AlternativeReply],
    seconds: float,
) -> PlanEvent:
    """Return the event of a plan.

    Args:
        plan: The plan.
        history: What happened before the plan.
        observation: Scene graph for which it was made.
        alternatives: Outcomes of the plans that are not followed.
        seconds: Time that calls of models took.
    """
    return PlanEvent(
        plan=history.decisions,
        step=history.cost,
        prompt=_turns(plan.messages),
        **reply_fields(plan),
        model_seconds=seconds,
        complete=plan.complete,
        choice_count=plan.choice_count,
        scene_graph=observation.tree,
        prior_calls=[_call_record(call) for call in plan.prior_calls],
        scores={action: round(score, 3) for action, score in plan.scores.items()},
        alternatives=list(alternatives),
        unjudged_objects=list(plan.unjudged_objects),
    )


def reply_fields(plan: Plan) -> dict[str, Any]:
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
    return ModelCallRecord(prompt=_turns(call.messages), **reply_fields(Plan((), reply=call.reply)))


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [message.turn for message in messages]
