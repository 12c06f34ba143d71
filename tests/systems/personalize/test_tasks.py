"""The tasks of a run: each episode is played once."""

from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.rollout.run import Run
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import list_tasks
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from tests.worlds.house.housekeep_folder import SCENE, make_folder


@pytest.mark.parametrize(
    "settings",
    [
        {"episodes": [3, 3]},
        {"episodes": [3, 12, 3], "scenes": [SCENE]},
        {"scenes": [SCENE, SCENE]},
        {"scenes": [SCENE, SCENE], "episodes": [12, 3, 12]},
    ],
)
def test_what_is_named_twice_is_played_once(tmp_path: Path, settings: dict[str, object]) -> None:
    data = make_folder(tmp_path / "data")
    common = {"data": str(data), "planner": "scripted", "max_steps": 20, "runs": 2}
    session = Run(Personalize(house_settings(settings={**common, **settings})), tmp_path / "run")
    names = [job.name for job in session.jobs]
    assert len(set(names)) == len(names) == 2 * len(set(settings.get("episodes") or [3, 12]))  # type: ignore[call-overload]
    assert session.play()["overall"]["episodes"] == len(names)
    assert [record.name for record in read_house_records(session.episodes)] == sorted(names)


@pytest.mark.housekeep
def test_no_task_set_names_a_task_twice(housekeep: HousekeepData) -> None:
    for name in ("demo", "train", "test"):
        for scenes in (["Merom_1_int"], ["Merom_1_int", "Pomaria_2_int", "Merom_1_int"]):
            settings = {"data": str(housekeep.root), "scenes": scenes, "episodes": name}
            names = list_tasks(house_settings(settings=settings).tasks)
            assert len({(each.scene, each.episode) for each in names}) == len(names)


@pytest.mark.parametrize("person", ["nobody", "annotator-99", "annotator-²", "${oc.env:HOME}"])
def test_nobody_is_found_before_anything_is_played(tmp_path: Path, person: str) -> None:
    data = make_folder(tmp_path / "data")
    for folder in (None, str(data)):
        with pytest.raises(UserError) as caught:
            Run(Personalize(house_settings(settings={"data": folder, "person": person})), tmp_path / "run")
        assert person in str(caught.value) or "annotator" in str(caught.value)
    assert not (tmp_path / "run").exists()
