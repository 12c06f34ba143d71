"""A plugin that was written for an earlier version: it still plays, with warnings."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin" / "drawers"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the plugin is, as if installed by pip."""
    target = tmp_path_factory.mktemp("installed")
    shutil.copytree(PLUGIN / "drawers", target / "drawers")
    home = target / "drawers-0.1.0.dist-info"
    home.mkdir()
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: drawers\nVersion: 0.1.0\n")
    _, _, parts = (PLUGIN / "pyproject.toml").read_text().partition("[project.entry-points.")
    parts = re.sub(r'(?:\[project\.entry-points\.|^)"(.+)"\]', r"[\1]", parts.partition("[tool.")[0])
    (home / "entry_points.txt").write_text(parts.replace('"', ""))
    return target


def run(installed: Path, folder: Path, *words: str) -> str:
    """Everything that a run with the plugin prints."""
    env = os.environ | {"PYTHONPATH": str(installed), "PYTHONWARNINGS": "default::DeprecationWarning"}
    command = [sys.executable, "-m", "housewise", "run", *words, "--out", str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert list((folder / "episodes").glob("*.jsonl"))
    return done.stderr


def test_a_system_with_former_names_plays(installed: Path, tmp_path: Path) -> None:
    warned = run(installed, tmp_path / "run", "--system", "drawers")
    for name in ("agent.base.Past", "rollout.notes.NoteEvent", "rollout.system.Opened"):
        assert f"housewise.{name} is now housewise." in warned
    assert "remembers is now called uses_memory" in warned and "open now takes one EpisodeContext" in warned
    assert "most is now max_results" in warned


def test_a_planner_with_former_names_plays(installed: Path, tmp_path: Path) -> None:
    warned = run(installed, tmp_path / "run", "--houses", "1", "--planner", "wanderer", "max_steps=30")
    assert "housewise.agent.personalize.parser.parse_plan is now housewise." in warned
    assert "housewise.selftrain.trainers.Start is now housewise." in warned
    assert "planner Wanderer: asks is now called asks_model" in warned


@pytest.mark.slow
def test_a_planner_in_a_file_with_former_methods_plays(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def plan(graph, attempts):\n"
        "    rooms = [room for room in graph.rooms if not graph.inside(room)]\n"
        "    places = [graph.place_of(room) for room in graph.rooms]\n"
        "    return '\\n'.join(f'go to {room}' for room in rooms) if rooms and places else 'mission complete'\n"
    )
    warned = run(installed, tmp_path / "run", "--houses", "1", "--planner", f"{tmp_path}/mine.py:plan", "max_steps=30")
    assert "SceneGraph.inside is now contents_of" in warned and "SceneGraph.place_of is now container_of" in warned
