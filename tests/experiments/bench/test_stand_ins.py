"""The picture of stand-ins: walls that are inferred look otherwise; models show only where a simulator shows them."""

from pathlib import Path

import numpy as np

from housewise.experiments.bench.stand_ins import mug, pictures
from housewise.worlds.house.simulator.habitat import find_missing_mesh
from housewise.worlds.house.simulator.raycast import RaycastSimulator


def test_the_mugs_model_is_all_there(tmp_path: Path) -> None:
    model = mug(tmp_path / "mug")
    assert find_missing_mesh(model.config) is None


def test_inferred_walls_look_otherwise_and_raycast_shows_stand_ins_only(tmp_path: Path) -> None:
    picture = pictures(RaycastSimulator(), tmp_path)
    whole, bare, unmodelled = np.split(picture, 3, axis=1)
    assert picture.shape == (256, 3 * 128, 3)
    assert (whole != bare).any(axis=2).mean() > 0.05
    assert np.array_equal(whole, unmodelled)
