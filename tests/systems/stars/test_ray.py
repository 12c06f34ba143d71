"""STARS on a Ray cluster: behind a server, and with a local model that answers in an actor."""

from pathlib import Path

import pytest

from housewise.people.memory import MemoryFolder
from tests.language.conftest import ChatServer
from tests.language.tiny import save_tiny_model
from tests.servers import serving
from tests.systems.command_runs import asking, contents, record_of, stars
from tests.systems.stars.housekeeper_server import housekeeper


def test_episodes_are_played_and_learned_from_on_a_cluster(cluster: str, tmp_path: Path, attic: Path) -> None:
    with serving(ChatServer()) as server:
        server.play(housekeeper())
        words = ("--ray", cluster, "repeats=2", "--workers", "2", "--out", tmp_path / "run")
        stars(*asking(server, f"task={attic}", *words))
        asked = len(server.requests)
    first, second = (record_of(tmp_path / "run", f"tidy-attic-run{run}").result.scores for run in range(2))
    assert first["calls"] == asked > 0 and first["completion_percent"] == 100
    assert (second["recalled"], second["calls"]) == (2, 0)
    assert len(MemoryFolder(tmp_path / "run" / "memory").load("simulated")) == 4


@pytest.mark.parametrize("condition", ["STARS", "TBP", "grounded"])
def test_a_local_model_writes_in_an_actor_what_it_writes_here(
    cluster: str, tmp_path: Path, attic: Path, condition: str
) -> None:
    model = save_tiny_model(tmp_path / "model")
    words = [f"task={attic}", "--model", f"local:{model}", "max_goal_tokens=4", "levels=2", "max_calls=20"]
    words += [f"condition={condition}"]
    stars(*words, "--out", tmp_path / "here")
    stars(*words, "--ray", cluster, "--out", tmp_path / "there")
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_local_models_of_several_roles_share_the_cores_of_a_machine(cluster: str, tmp_path: Path, attic: Path) -> None:
    one, other = (f"local:{save_tiny_model(tmp_path / name, seed=seed)}" for seed, name in enumerate(("one", "other")))
    words = (f"task={attic}", "--model", one, "--person", "model", "max_goal_tokens=4", "levels=2", "max_calls=20")
    for number, person in enumerate((one, other)):
        out = tmp_path / f"run-{number}"
        stars(*words, f"models.person.model={person}", "--ray", cluster, "--out", out)
        assert record_of(out, "tidy-attic-run0").result.scores["calls"] > 0
