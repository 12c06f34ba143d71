import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from housewise.core.errors import UserError
from housewise.tracking import Curves, open_curves
from housewise.tracking.curves import Steps


class Notebook:
    """A tracker that keeps what it is told in a list."""

    points: ClassVar[list[tuple[str, int, dict[str, float]]]]
    before: ClassVar[Steps] = {}

    def __init__(self, folder: Path) -> None:
        type(self).points = []
        self.folder, self.closed = folder, False

    @staticmethod
    def check() -> None: ...

    def last_steps(self) -> Steps:
        return self.before

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        self.points.append((series, step, dict(figures)))

    def close(self) -> None: ...


class Continued(Notebook):
    before: ClassVar[Steps] = {"a/loss": 2}


class Full(Notebook):
    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        super().log(series, step, figures)
        if step == 2:
            raise OSError("no space left")


class Absent(Notebook):
    def __init__(self, folder: Path) -> None:
        raise RuntimeError("no such account")


def test_what_was_kept_before_is_not_kept_again(tmp_path: Path) -> None:
    curves = Curves({"continued": Continued}, tmp_path, pytest.fail)
    for step in (1, 2, 3, 3):
        curves.log("a", step, {"loss": 1 / step, "rate": step, "nothing": float("nan")})
    assert [(step, sorted(figures)) for _, step, figures in Continued.points] == [
        (1, ["a/rate"]),
        (2, ["a/rate"]),
        (3, ["a/loss", "a/rate"]),
    ]


def test_a_tracker_that_fails_is_told_of_once_and_left(tmp_path: Path) -> None:
    told: list[str] = []
    curves = Curves({"full": Full, "absent": Absent, "notebook": Notebook}, tmp_path, told.append)
    for step in range(1, 5):
        curves.log("a", step, {"loss": 1.0})
    curves.close()
    assert [line.partition(" (")[0] for line in told] == ["no longer logged to absent", "no longer logged to full"]
    assert "no such account" in told[0] and "no space left" in told[1]
    assert len(Full.points) == 2 and len(Notebook.points) == 4


@pytest.mark.parametrize(("name", "library"), [("tensorboard", "tensorboardX"), ("wandb", "wandb")])
def test_a_missing_library_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with (
        pytest.raises(UserError, match=rf"{library} is not installed.*'housewise\[{name}\]'"),
        open_curves([name], tmp_path, pytest.fail),
    ):
        pytest.fail("it began")
    assert not list(tmp_path.iterdir())


def test_a_tracker_that_there_is_not_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean tensorboard"), open_curves(["tensorbord"], tmp_path, pytest.fail):
        pytest.fail("it began")
