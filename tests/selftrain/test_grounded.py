"""Grounded replies against what the demonstrator says: what a model is taught, it must be able to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("llguidance")

from agent.grammar import plan_grammar
from agent.models.constrained import follows
from agent.scene_graph import SceneGraph, View
from selftrain.config import load_config
from selftrain.record import PlanLine, read_records
from selftrain.run import Run


def graph(plan: PlanLine, rooms: list[str]) -> SceneGraph:
    """What the robot knew and held."""
    places = {place: (room, things) for room, inside in plan.known.items() for place, things in inside.items()}
    held = re.search(r"You are holding (.+)\.", plan.prompt[1]["content"])
    known = SceneGraph(rooms)
    known.update(
        View(
            {place: room for place, (room, _) in places.items()},
            {thing: place for place, (_, things) in places.items() for thing in things},
            held[1] if held and held[1] != "nothing" else None,
        )
    )
    return known


@pytest.mark.parametrize("order", ["random", "nearest"])
def test_all_that_is_demonstrated_can_be_said(tmp_path: Path, order: str) -> None:
    settings = {"planner": "demonstrator", "houses": 2, "demonstrator": {"order": order, "thorough": True}}
    run = Run(load_config(settings=settings), tmp_path)
    run.play()
    plans = [(plan, record.episode.rooms) for record in read_records(run.episodes) for plan in record.plans]
    assert any("place" in plan.reply for plan, _ in plans) and len(plans) > 10
    for plan, rooms in plans:
        assert follows(plan.reply, plan_grammar(graph(plan, rooms), 10)), plan.reply
