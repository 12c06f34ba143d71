import numpy as np
import pytest

from housewise.playback.floor_plan import PlanProjection


@pytest.mark.parametrize("is_rotated", [False, True])
def test_the_projection_fits_the_plan_and_keeps_headings(is_rotated: bool) -> None:
    projection = PlanProjection(left=1.0, top=2.0, width=4.0, depth=8.0, scale=10.0, is_rotated=is_rotated)
    assert projection.size == ((80, 40) if is_rotated else (40, 80))
    corners = projection.pixels([(1, 2), (5, 10)])
    assert corners.min() >= 0 and (corners.max(axis=0) == projection.size).all()
    here, ahead = projection.pixels([(3, 5), (3 - np.sin(0.4), 5 - np.cos(0.4))])
    assert np.arctan2(*(ahead - here)[::-1]) == pytest.approx(projection.heading(0.4))
