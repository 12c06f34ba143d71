"""Learning goals as a user does: commands, a tiny model, a training that is stopped, and what comes of it."""

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
pytest.importorskip("openai")

from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.selftrain.publish_adapter import publish_adapter
from tests.selftrain.tiny import save_learner
from tests.systems.command_runs import ATTIC, record_of, run_housewise, stars

SETTINGS = (
    "lessons.rooms=2", "lessons.goals=4", "lessons.choices=2", "lessons.task_object_repeats=0", "lessons.options=[2,3]",
    "training.learning_rate=0.02", "training.rank=4", "training.epochs=2", "training.max_example_tokens=4096",
    "training.device=cpu", "training.dtype=float32", "training.checkpoint_steps=2",
)  # fmt: skip


def teach(model: Path, out: Path, *more: object, code: int = 0) -> str:
    words = ["selftrain", "--config", "goals", "--model", f"local:{model}", "--out", out, *SETTINGS, *more]
    return run_housewise(*words, code=code)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_learner(tmp_path_factory.mktemp("learner") / "tiny")


@pytest.fixture(scope="module")
def taught(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("taught") / "goals"
    told = teach(model, out)
    assert "housewise run --system stars" in told and "8 lessons in 8 steps" in told
    return out


def weights(out: Path) -> bytes:
    return (out / "imitate" / "adapter" / "adapter_model.safetensors").read_bytes()


@pytest.mark.slow
def test_what_is_learned_is_likelier_where_the_robot_asks(model: Path, tmp_path: Path) -> None:
    # All weights: an adapter does not move the words of a model as small as this one.
    teach(model, tmp_path, "training.method=full", "training.epochs=8")
    pairs = read_examples(tmp_path / "imitate" / "pairs.jsonl", EpisodeDemonstration)
    before, after = (likelihoods(each, pairs) for each in (model, tmp_path / "imitate" / "model"))
    assert len(pairs) == 8
    # Four goals to write, then two questions in two orders each.
    assert all(now > 2 * then for then, now in zip(before[:4], after[:4], strict=True))
    assert sum(after[4:]) > 2 * sum(before[4:])
    for name in ("curve.csv", "model.json", "model/README.md", "known_places.json"):
        assert (tmp_path / "imitate" / name).is_file()


def likelihoods(model: Path, pairs: list[EpisodeDemonstration]) -> list[float]:
    """How likely replies are where they are asked for: as goals that are rated, and as answers to questions."""
    opened = LocalChatModel(str(model), device="cpu", dtype="float32")
    continuer, found = LocalCompletionModel(opened), []
    for pair in pairs:
        if not pair.reply.strip().isdigit():
            found.append(continuer.score_texts(pair.prefix, [pair.reply])[0].probability)
            continue
        system, _, question = pair.prefix.partition("\n")
        [reply] = continuer.answer(system, [question])
        found.append(max((t.probability for t in reply.first if t.text.strip() == pair.reply.strip()), default=0.0))
    opened.close()
    return found


def test_the_same_command_goes_on_and_learns_nothing_twice(model: Path, taught: Path, tmp_path: Path) -> None:
    before = weights(taught)
    teach(model, taught)
    assert weights(taught) == before
    # Stopped before its end, it ends as if it had not been.
    again = tmp_path / "again"
    shutil.copytree(taught, again)
    shutil.rmtree(again / "imitate" / "adapter")
    (again / "imitate" / "model.json").unlink()
    teach(model, again)
    assert weights(again) == before
    assert json.loads((again / "config.json").read_text())["system"] == "stars"


def test_until_something_is_learned_it_may_be_learned_otherwise(model: Path, taught: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(taught, again)
    (again / "imitate" / "model.json").unlink()
    teach(model, again, "training.learning_rate=0.01")
    card = (again / "imitate" / "adapter" / "README.md").read_text()
    assert '"learning_rate": 0.01,' in card and weights(again) != weights(taught)
    complaint = teach(model, again, code=2)
    assert "other settings (training.learning_rate)" in complaint


def test_the_robot_is_run_with_what_was_learned(model: Path, taught: Path, tmp_path: Path) -> None:
    path, adapter = tmp_path / "attic.yaml", taught / "imitate" / "adapter"
    path.write_text(ATTIC)
    assert publish_adapter(adapter, tmp_path / "shipped") > 0
    words = (f"task={path}", "--model", f"local:{model}", "max_goal_tokens=4", "max_calls=20")
    for folder in (adapter, tmp_path / "shipped"):
        stars(*words, "--adapter", folder, "--out", tmp_path / "run" / folder.name)
        scores = record_of(tmp_path / "run" / folder.name, "tidy-attic-run0").result.scores
        assert scores["completion_percent"] == 100 and scores["calls"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lessons.goals=5",), "holds a training with other settings (lessons.goals)"),
        (("run.seed=4",), "holds a training with other settings (run.seed)"),
        (("training.rank=2",), "holds a training with other settings (training.rank)"),
        (("training.trainer=openai",), "only trainer=local can"),
        (("--houses", "3"), "--houses: does not concern the training of stars"),
        (("--system", "clipr"), "--system clipr: has no training"),
    ],
)
def test_what_cannot_be_is_one_line(model: Path, taught: Path, words: tuple[str, ...], said: str) -> None:
    before = weights(taught)
    complaint = teach(model, taught, *words, code=2)
    assert said in complaint and complaint.count("\n") == 1 and weights(taught) == before


def test_what_cannot_be_read_is_told_and_corrected_in_the_same_folder(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "nope: file not found" in teach(model, out, "run.prompt=nope", code=2)
    assert "4 lessons in 2 steps" in teach(model, out, "lessons.choices=0", "training.epochs=1")


def test_a_recipe_of_goals_is_played_without_its_training(tmp_path: Path) -> None:
    told = stars("--config", "goals", "--adapter", "nowhere", "--out", tmp_path / "run", code=2)
    assert "note: goals holds a recipe of training; its section run is played" in told and "adapter nowhere" in told
