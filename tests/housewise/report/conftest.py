"""A short run on a generated house."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from housewise.report.views import house_page
from housewise.rollout.run import Run
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.record_lines import changed_lines

Edit = Callable[[dict[str, Any]], None]


def play(folder: Path, **settings: Any) -> Path:
    """Play one generated house with the scripted planner."""
    config = house_settings(settings={"planner": "scripted", "person": "ada", "houses": 1, "seed": 1, **settings})
    Run(Personalize(config), folder).play()
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one episode that is cut after 160 steps."""
    return play(tmp_path_factory.mktemp("runs") / "short", max_steps=160)


@pytest.fixture(autouse=True)
def short_films(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_page, "FRAMES", 10)


@pytest.fixture
def edited(run_folder: Path, tmp_path: Path) -> Callable[[Edit], Path]:
    """Copies the run with a change made to every line of its record, its type beside its fields."""

    def edit(change: Edit) -> Path:
        folder = tmp_path / "edited"
        shutil.copytree(run_folder, folder)
        for path in (folder / "episodes").glob("*.jsonl"):
            with changed_lines(path) as lines:
                for line in lines:
                    whole = {"type": line["type"], **line["data"]}
                    change(whole)
                    line |= {"type": whole.pop("type"), "data": whole}
        return folder

    return edit
