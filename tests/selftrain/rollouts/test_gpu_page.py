"""The commands of docs/gpu.md, as a reader with the Housekeep data copies them, without the model and the servers."""

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from tests.commands import housewise, one_line
from tests.worlds.house.housekeep_folder import ASSETS, EPISODES, METADATA, NAVMESH, SCENE

PAGE = (Path(__file__).parents[3] / "docs" / "gpu.md").read_text(encoding="utf-8")
SCENES = ("Benevolence_2_int", "Merom_1_int")
"""Scenes of the data: the first one has no task sets."""
MISSING = (
    "there is no such folder",
    "no such folder, and none of that name",
    "check base_url and that the server runs",
    "bitsandbytes is not installed",
)


def commands() -> list[str]:
    """The commands of the page that play or train."""
    blocks = re.findall(r"^```\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if re.match(r"housewise (selftrain|run|experiment) ", line)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the Housekeep data until a scene is loaded."""
    root = tmp_path_factory.mktemp("housekeep")
    for scene in SCENES:
        for file in (METADATA, NAVMESH, EPISODES):
            path = root / file.replace(SCENE, scene)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    assert (root / ASSETS / SCENES[0]).is_dir()
    return root


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_lacks_nothing_but_the_model_and_the_server(
    command: str, data: Path, tmp_path: Path
) -> None:
    closed = re.sub(r"(127\.0\.0\.1|localhost):\d+", "127.0.0.1:9", command.replace("$HOME", str(tmp_path)))
    # A folder that is missing is told at once; a name would be looked for at the Hugging Face Hub.
    words = shlex.split(re.sub(r"local:\S+", f"local:{tmp_path / 'model'}", closed))[1:]
    if "--out" in words:
        words[words.index("--out") + 1] = str(tmp_path / "out")
    done = housewise(*words, HOUSEKEEP_DATA=str(data))
    *notes, error = done.stderr.splitlines()
    assert done.returncode == 2 and any(message in error for message in MISSING), done.stderr
    assert all(line.startswith("note: ") for line in notes), done.stderr


def test_the_page_has_commands_of_all_kinds() -> None:
    assert {line.split()[1] for line in commands()} == {"selftrain", "run", "experiment"}


def test_without_a_scene_the_error_says_what_to_choose(data: Path, tmp_path: Path) -> None:
    words = ["--config", "paper", "--model", f"local:{tmp_path / 'model'}", "--out", tmp_path / "out"]
    error = one_line(housewise("selftrain", *words, HOUSEKEEP_DATA=str(data)))
    assert "no task sets for Benevolence_2_int" in error and "--scene" in error and "--houses N" in error
