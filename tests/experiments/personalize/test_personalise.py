"""One person's robot: who disagrees, what the table says, where the same thing goes."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.experiments.personalize.paper import carry_out
from housewise.experiments.personalize.personalise import DisagreeingPair, Personalise
from housewise.experiments.personalize.preference_disagreement import (
    find_most_different_people,
    preference_disagreement,
)
from housewise.experiments.personalize.same_thing import draw_same_thing, same_things
from housewise.experiments.personalize.study import GENERATED, recipe, scene_recipe
from housewise.experiments.results import Figure
from housewise.rollout.run import Run
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save, with_changes
from tests.selftrain.tiny import save_learner, save_prompt

SOFA = "living room 0 sofa 3"


def test_disagreement_is_the_share_of_places_that_only_one_wants() -> None:
    one, other = [frozenset("ab"), frozenset("c"), frozenset()], [frozenset("bc"), frozenset("c"), frozenset()]
    assert preference_disagreement(one, other) == pytest.approx((2 / 3 + 0) / 2)
    assert preference_disagreement(one, one) == 0 and preference_disagreement([frozenset("a")], [frozenset("b")]) == 1


def test_the_two_who_differ_most_are_taken() -> None:
    config = scene_recipe(recipe(False, overrides=["training_tasks.houses=2"]), GENERATED, few=False)
    (one, other), most = find_most_different_people(config)
    assert one != other and 0 < most < 1
    assert find_most_different_people(config, [one, other])[1] == pytest.approx(most)
    assert find_most_different_people(config, ["ada", "bruno"])[1] <= most


@pytest.mark.parametrize(("named", "message"), [(["ada"], "two different"), (["ada", "nobody"], "no person 'nobody'")])
def test_two_people_have_to_be_named(named: list[str], message: str) -> None:
    config = scene_recipe(recipe(True), GENERATED, few=True)
    with pytest.raises(UserError, match=message):
        find_most_different_people(config, named)


@pytest.mark.housekeep
def test_annotators_are_compared_over_the_training_tasks(housekeep: HousekeepData) -> None:
    settings = recipe(False, given={"run": {"data": str(housekeep.root)}})
    people, most = find_most_different_people(scene_recipe(settings, "Pomaria_2_int", few=False))
    assert people == ("annotator-1", "annotator-7") and most == pytest.approx(0.808, abs=0.001)


@pytest.fixture
def pair(tmp_path: Path) -> DisagreeingPair:
    """Two people; Ada's robot puts her mug on the shelf, Bruno's and everybody's do not."""
    made = DisagreeingPair(scene_recipe(recipe(True), GENERATED, few=True), ("ada", "bruno"), 0.25, tmp_path / "pair")
    for taught, end in (("ada", SHELF), ("bruno", SOFA), ("majority", TABLE)):
        for number in range(2):
            save(make_record({"mug 1": end}, episode=number), tmp_path / "pair" / taught / "for-ada" / "episodes")
    return made


def test_the_table_has_every_robot_for_both(pair: DisagreeingPair, tmp_path: Path) -> None:
    cells = {(cell.row, cell.column): cell.ours for cell in pair.cells()}
    assert len(cells) == 8
    assert cells["taught for ada", "tidies for ada"] == Figure(100.0, 0.0, 2)
    assert cells["taught for bruno", "tidies for ada"] == cells["taught for majority", "tidies for ada"]
    assert cells["taught for nobody", "tidies for bruno"] is None
    assert pair.gains() == {"ada": Figure(100.0, 0.0, 2), "bruno": None}
    console = Console(record=True, width=160, file=io.StringIO())
    carry_out(Personalise([pair], tmp_path), tmp_path, True, console, {"quick": True})
    told = console.export_text()
    assert (
        "own robot minus the majority's, for ada, episode by episode: 100.0 ± 0.0 points, n=2" in told
        and "differ by 0.25" in told
    )
    assert "100.0 ± 0.0<br>n=2 |" in (tmp_path / "personalise.md").read_text()


def test_the_same_thing_in_two_places_is_found(pair: DisagreeingPair) -> None:
    found = pair.things()
    assert [(thing.name, thing.one, thing.other, thing.right) for thing in found] == [
        ("mug 1", SHELF, SOFA, (True, False))
    ] * 2


def test_what_is_done_in_every_run_is_told_once() -> None:
    ones, others = ([make_record({"mug 1": end}, repetition=run) for run in range(3)] for end in (SHELF, SOFA))
    assert [thing.record for thing in same_things(ones, others)] == [ones[0].name]


def test_mugs_come_first_and_what_one_robot_left_does_not_come() -> None:
    ends = {"pen 1": SHELF, "mug 1": SHELF, "book 1": SHELF, "vase 1": "robot"}
    others = {"pen 1": SOFA, "mug 1": SOFA, "book 1": TABLE, "vase 1": SOFA}
    found = same_things([make_record(ends)], [make_record(others)])
    assert [thing.name for thing in found] == ["mug 1", "pen 1"]
    assert same_things([make_record(ends)], [make_record(others, repetition=1)]) == []


def test_the_two_ways_of_a_thing_are_drawn(tmp_path: Path) -> None:
    config = house_settings(settings={"planner": "scripted", "houses": 1, "person": "ada"})
    Run(Personalize(config), tmp_path).play()
    own = next(read_house_records(tmp_path / "episodes"))
    thing = next(name for name, place in own.final.placements.items() if place != own.initial_state.placements[name])
    elsewhere = _put(own, thing, own.initial_state.placements[thing])
    assert same_things([own], [elsewhere]) == []
    moved = _put(
        own, thing, next(place for place in own.initial_state.correct[thing] if place != own.final.placements[thing])
    )
    found = same_things([own], [moved])[0]
    draw_same_thing(found, [own], ("ada", "bruno"), tmp_path / "thing.png")
    assert (tmp_path / "thing.png").read_bytes().startswith(b"\x89PNG")


def _put(record: HouseRecord, thing: str, place: str) -> HouseRecord:
    placements = {**record.final.placements, thing: place}
    return with_changes(record, ends=placements)


@pytest.mark.slow
def test_everybody_has_a_robot_and_both_try_all(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    few = ["run.max_steps=30", "run.max_plans=1", "run.sampling.max_tokens=8", "training.max_example_tokens=16384"]
    small = ["training.rank=2", "training.device=cpu", "training.dtype=float32", "iterations=1"]
    model = f"local:{save_learner(tmp_path / 'tiny')}"
    words = ["--quick", "--people", "ada,bruno", "--model", model, "--out", tmp_path / "out"]
    settings = [*few, *small, f"run.prompt={save_prompt(tmp_path / 'short.yaml')}"]
    module = "housewise.experiments.personalize.personalise"
    run_module(module, [*words, "--json", tmp_path / "figures.json", *settings], timeout=1200, code=0)
    pair = tmp_path / "out" / GENERATED / "ada-bruno"
    told = {
        (taught, tested): json.loads((pair / taught / f"for-{tested}" / "config.json").read_text())
        for taught in ("nobody", "majority", "ada", "bruno")
        for tested in ("ada", "bruno")
    }
    assert all(config["tasks"]["person"] == tested for (_, tested), config in told.items())
    adapters = {key: config["models"]["agent"]["adapter"] for key, config in told.items()}
    assert adapters["nobody", "ada"] is None
    assert adapters["bruno", "ada"] == str(pair / "bruno" / "selftraining" / "iteration-1" / "adapter")
    recipe = json.loads((pair / "bruno" / "selftraining" / "config.json").read_text())
    assert recipe["run"]["tasks"]["person"] == "bruno"
    content = json.loads((tmp_path / "out" / "personalise.json").read_text())
    assert json.loads((tmp_path / "figures.json").read_text()) == content
    assert [cell["ours"]["episodes"] for cell in content["tables"][0]["cells"]] == [1] * 8
