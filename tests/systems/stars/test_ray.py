"""STARS on a Ray cluster: behind a server, and with a local model that answers in an actor."""

from pathlib import Path

from housewise.people.memory import MemoryFolder
from tests.language.conftest import ChatServer
from tests.language.tiny import save_tiny_model
from tests.servers import serving
from tests.systems.command_runs import asking, record_of, stars
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


def test_a_local_model_goes_on_with_conversations_in_an_actor(cluster: str, tmp_path: Path, attic: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    words = ("--ray", cluster, "--model", f"local:{model}", "max_goal_tokens=4", "levels=2", "max_calls=20")
    stars(f"task={attic}", *words, "--out", tmp_path / "run")
    scores = record_of(tmp_path / "run", "tidy-attic-run0").result.scores
    assert scores["completion_percent"] == 100 and scores["retrieved"] > 0
