from pathlib import Path

import pytest

from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.rollout.run import Run
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.name_resolution import Vocabulary


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[HouseRecord]:
    """Records of demonstrations in a generated house, with full and with short names."""
    folder = tmp_path_factory.mktemp("demonstrations")
    for order, prompt in (("nearest", "planner"), ("listed", "compact")):
        shown = {"planner": "demonstrator", "houses": 1, "demonstrator": {"order": order}, "prompt": prompt}
        Run(Personalize(house_settings(settings=shown)), folder / order).play()
    return [record for path in sorted(folder.glob("*/episodes")) for record in read_house_records(path)]


def test_a_model_that_gives_the_reply_does_what_was_shown(records: list[HouseRecord]) -> None:
    """Check that the parser reads the demonstrator's replies as its actions."""
    for record in records:
        places = tuple(place for room in record.plans[-1].scene_graph.values() for place in room)
        vocabulary = Vocabulary(tuple(record.initial_state.rooms), places, tuple(record.initial_state.placements))
        for plan in record.plans:
            done = [action.action for action in record.actions if action.plan == plan.plan]
            parsed = parse_any_plan(plan.reply, vocabulary)
            assert [str(step.action) for step in parsed.steps[: len(done)]] == done
            assert parsed.complete == plan.complete


def test_the_end_is_a_demonstration_too(records: list[HouseRecord]) -> None:
    ended = [record for record in records if record.result.end_reason == "complete"]
    assert ended
    assert all(record.plans[-1].reply == " mission complete" for record in ended)


def test_the_papers_order_enters_every_room_first(tmp_path: Path) -> None:
    Run(
        Personalize(house_settings(settings={"planner": "demonstrator", "houses": 1, "max_steps": 60})), tmp_path
    ).play()
    (record,) = read_house_records(tmp_path / "episodes")
    first = record.plans[0]
    assert first.reply.splitlines()[0] == f" go to {record.initial_state.rooms[0]}"
    assert first.reply.count("go to") == min(len(record.initial_state.rooms), 10)


def test_by_the_list_the_first_misplaced_object_comes_next(records: list[HouseRecord]) -> None:
    listed = [record for record in records if record.header.settings["agent"]["demonstrator"]["order"] == "listed"]
    for record in listed:
        for plan in record.plans:
            moved = [
                action.target for action in record.actions if action.plan == plan.plan and action.kind == "pick up"
            ]
            if not moved:
                continue
            on = {
                thing: place for room in plan.scene_graph.values() for place, things in room.items() for thing in things
            }
            known = {place for room in plan.scene_graph.values() for place in room}
            wrong = [thing for thing, place in on.items() if place not in record.initial_state.correct[thing]]
            assert moved == [thing for thing in wrong if known & set(record.initial_state.correct[thing])][:1]
