"""The grammar of plans allows every reply of the demonstrator, since models are trained on these."""

import re
from pathlib import Path

import pytest

pytest.importorskip("llguidance")

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.language.grammar_matching import matches_grammar
from housewise.rollout.run import Run
from housewise.systems.personalize.record import PlanEvent, read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation


def graph(plan: PlanEvent, rooms: list[str]) -> SceneGraph:
    """Return the scene graph of a recorded plan."""
    places = {place: (room, things) for room, inside in plan.scene_graph.items() for place, things in inside.items()}
    held = re.search(r"holding (.+?)\.?$", plan.prompt[1]["content"], re.MULTILINE)
    known = SceneGraph(rooms)
    known.update(
        SymbolicObservation(
            {place: room for place, (room, _) in places.items()},
            {thing: place for place, (_, things) in places.items() for thing in things},
            held[1] if held and held[1] != "nothing" else None,
        )
    )
    return known


@pytest.mark.parametrize(
    ("order", "prompt"), [("random", "planner"), pytest.param("listed", "compact", marks=pytest.mark.slow)]
)
def test_all_that_is_demonstrated_can_be_said(tmp_path: Path, order: str, prompt: str) -> None:
    shown = {"order": order, "thorough": True}
    settings = {"planner": "demonstrator", "prompt": prompt, "houses": 1, "max_steps": 700, "demonstrator": shown}
    words = NotesTemplate.load(prompt)
    run = Run(Personalize(house_settings(settings=settings)), tmp_path)
    run.play()
    plans = [(plan, record.initial_state.rooms) for record in read_house_records(run.episodes) for plan in record.plans]
    assert any("place" in plan.reply for plan, _ in plans) and len(plans) > 2
    for plan, rooms in plans:
        known = graph(plan, rooms)
        assert matches_grammar(plan.reply, plan_grammar(known, 10, words.prompt_names(known))), plan.reply
