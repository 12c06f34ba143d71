"""Marks of settings, as authors of plugins write them."""

import pytest

from housewise.core.setting_marks import Affects


def test_an_effect_that_there_is_not_is_refused_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="no effect 'reslt' of a setting; did you mean result"):
        Affects("reslt")  # type: ignore[arg-type]
    assert Affects("result").refine(Affects(compared=False)) == Affects("result", compared=False)
