"""Self-training as a user meets it: real processes, a tiny model, kill -9."""

import json
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.agent.personalize.judgement_text import find_judged_kinds
from housewise.core.errors import UserError
from housewise.language.adapters import adapter_defaults
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import SelfTrainingConfig, load_selftraining
from housewise.systems.personalize.record import read_house_records
from tests.in_process import call_housewise, without_matplotlib
from tests.selftrain.personalize.learner import Learner
from tests.selftrain.tiny import Unheard, adapter_weights

PHASES = ["untrained", "imitate", "iteration-1", "iteration-2"]


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Learner:
    return Learner(tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def whole(learner: Learner) -> Path:
    """A self-training from beginning to end."""
    out = learner.folder / "whole"
    assert "iteration-2" in learner.run(out).stdout
    return out


def content(out: Path) -> dict[str, Any]:
    """What a self-training came to, without times and its own name."""
    found: dict[str, Any] = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.name in ("pairs.jsonl", "filter.json", "curve.csv", "adapter_model.safetensors"):
            found[name] = path.read_bytes()
    for phase in json.loads((out / "summary.json").read_text())["phases"]:
        for tasks, row in phase["evaluation"].items():
            measured = {key: value for key, value in row.items() if "seconds" not in key}
            found[f"{phase['phase']}/{tasks}"] = measured
    return found


def test_every_phase_leaves_its_files(whole: Path) -> None:
    phases = json.loads((whole / "summary.json").read_text())["phases"]
    assert [phase["phase"] for phase in phases] == PHASES
    assert all(set(phase["evaluation"]) == {"train", "test"} for phase in phases)
    for name in PHASES[1:]:
        for file in (
            "pairs.jsonl",
            "filter.json",
            "curve.csv",
            "adapter/README.md",
            "adapter/adapter_model.safetensors",
        ):
            assert (whole / name / file).stat().st_size > 0
        assert json.loads((whole / name / "evaluation" / "metrics.json").read_text())["phase"] == name
    assert (whole / "learning_curve.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_curve_is_not_drawn(learner: Learner, whole: Path) -> None:
    drawn = (whole / "learning_curve.png").stat().st_mtime_ns
    with without_matplotlib():
        again = call_housewise(*learner.command(whole), code=0)
    assert "curve:      not drawn; pictures: matplotlib is not installed" in again.stdout
    assert (whole / "learning_curve.png").stat().st_mtime_ns == drawn


def test_an_iteration_learns_what_was_tried_and_what_was_shown(whole: Path) -> None:
    shown, learned = (
        read_examples(whole / name / "pairs.jsonl", EpisodeDemonstration) for name in ("imitate", "iteration-1")
    )
    assert learned[-len(shown) :] == shown
    assert {pair.scene for pair in shown} == {"generated-1000", "generated-3000"}
    assert {pair.scene for pair in learned[: -len(shown)]} == {"generated-2000", "generated-2001"}
    figures = json.loads((whole / "iteration-1" / "filter.json").read_text())
    assert figures["kept"]["count"] == len(learned) - len(shown)


def test_each_model_is_the_start_of_the_next(whole: Path) -> None:
    used = json.loads((whole / "iteration-2" / "grow" / "config.json").read_text())
    assert used["models"]["agent"]["adapter"] == str(whole / "iteration-1" / "adapter")
    assert used["models"]["agent"]["sampling"]["temperature"] == 1.0


def test_each_iteration_tries_anew(whole: Path) -> None:
    one, other = (
        {record.name: record.header.seed for record in read_house_records(whole / name / "grow" / "episodes")}
        for name in PHASES[2:]
    )
    assert one.keys() == other.keys() and not set(one.values()) & set(other.values())


def test_each_iteration_learns_more_slowly_than_the_one_before(whole: Path) -> None:
    cards = [(whole / phase / "adapter" / "README.md").read_text() for phase in PHASES[1:]]
    assert ['"learning_rate": 0.0003,' in card for card in cards] == [True, True, False]
    assert '"learning_rate": 0.00015,' in cards[2]


def test_in_hindsight_everything_that_was_tried_and_known_is_learned(learner: Learner) -> None:
    out = learner.folder / "hindsight"
    settings = [
        "run.prompt=judging",
        "target=relabelled",
        "memory_lessons=3",
        "iterations=1",
        "replay_fraction=0",
        "evaluation.tasks=[]",
    ]
    learner.train(out, *settings)
    tried = json.loads((out / "iteration-1" / "filter.json").read_text())["kept"]["count"]
    learned = read_examples(out / "iteration-1" / "pairs.jsonl", EpisodeDemonstration)
    # Lessons about the two houses, as far as the demonstrations told of them.
    assert [pair.scene for pair in learned[tried:]] == ["generated-2000", "generated-2000", "generated-2001"]
    assert all(pair.given == () for pair in learned[tried:])
    taught: set[str] = set()
    for phase in ("imitate", "iteration-1"):
        taught |= {
            kind
            for pair in read_examples(out / phase / "pairs.jsonl", EpisodeDemonstration)
            for kind in find_judged_kinds(pair.reply)
        }
        assert taught and adapter_defaults(out / phase / "adapter")["familiar_kinds"] == tuple(sorted(taught))


@pytest.mark.slow
def test_what_is_shown_and_tried_is_remembered_and_tests_are_not(learner: Learner) -> None:
    out, source = learner.folder / "remembering", learner.folder / "memories"
    MemoryFolder(source).save(
        Memory("ada", [Note(person="ada", kind="rule", text="No mugs.", about=About(things=("mug",)))])
    )
    before = MemoryFolder(source).load("ada").digest
    memory = ["run.memory.start=ada", f"run.memory.folder={source}"]
    settings = [
        "run.prompt=judging",
        "target=relabelled",
        "iterations=2",
        "run.person=ada",
        "run.max_steps=400",
        "run.max_plans=3",
    ]
    learner.train(out, *settings, *memory, "evaluation.tasks=[{name: test, houses: 1, seed: 0}]")
    runs = ["demonstrate", "iteration-1/grow", "iteration-2/grow"]
    known = [MemoryFolder(out / run / "memory").load("ada") for run in runs]
    begun = [before, *(memory.digest for memory in known)]
    assert 1 < len(known[0]) <= len(known[1]) <= len(known[2])
    for name, digest in zip(
        [*runs, *(f"{phase}/evaluation/test" for phase in PHASES)], [*begun[:3], *begun], strict=True
    ):
        remembered = {record.header.memory for record in read_house_records(out / name / "episodes")}
        assert remembered == {digest}, name
    assert MemoryFolder(source).load("ada").digest == before and not (out / "imitate/evaluation/test/memory").exists()
    learner.train(out, *settings, *memory)
    nobody = ("run.memory.start=nobody", f"run.memory.folder={source}")
    assert "no memory of nobody" in learner.train(learner.folder / "nobody", *settings, *nobody, code=2)


@pytest.mark.slow
def test_prompts_that_told_of_notes_are_learned_as_they_were(learner: Learner) -> None:
    out, source = learner.folder / "notes", learner.folder / "memories"
    wanted = About(things=("laptop",), receptacle="sofa")
    note = Note(person="esi", kind="reaction", text="The laptop belongs on the sofa.", about=wanted, value=1.0)
    MemoryFolder(source).save(Memory("esi", [note]))
    settings = [
        *("run.memory.start=esi", f"run.memory.folder={source}", "run.person=majority"),
        *("run.prompt=remembering", "target=relabelled"),
        *("iterations=1", "replay_fraction=0", "evaluation.tasks=[]", "run.max_steps=400", "run.max_plans=4"),
        # Replies that can be done, so that it gets to see things.
        *("run.grounded=true", "run.wrappers=[verify_completion]", "run.sampling.max_tokens=200"),
    ]
    learner.train(out, *settings)
    prompts = [
        plan.prompt[-1]["content"]
        for record in read_house_records(out / "iteration-1" / "grow" / "episodes")
        for plan in record.plans
        if plan.prompt
    ]
    kept = json.loads((out / "iteration-1" / "filter.json").read_text())
    assert kept["pairs"]["count"] == len(prompts) > 0
    assert any("laptop on kitchen top cabinet 16 = living room sofa" in prompt for prompt in prompts)


@pytest.mark.parametrize("setting", ["target=verified", "target=relabelled", "memory_lessons=3"])
def test_without_judgements_there_is_nothing_to_correct(learner: Learner, setting: str) -> None:
    assert "run.prompt=judging" in learner.train(learner.folder / "none", setting, code=2)


@pytest.mark.slow
def test_killed_in_every_phase_it_ends_as_if_it_had_not_been(learner: Learner, whole: Path) -> None:
    out = learner.folder / "killed"
    signs = ["demonstrate/episodes/*.partial", "imitate/checkpoints/*", "imitate/evaluation/*/episodes/*",
             "iteration-1/grow/episodes/*", "iteration-1/checkpoints/*/trainer_state.json",
             "iteration-1/evaluation/train/metrics.json", "iteration-2/checkpoints/*"]  # fmt: skip
    for sign in signs:
        with learner.start(out) as process:
            while process.poll() is None and not any(out.glob(sign)):
                time.sleep(0.01)
            assert process.poll() is None, f"it went by {sign} unseen"
            process.send_signal(signal.SIGKILL)
    learner.train(out)
    assert content(out) == content(whole)


def test_other_settings_are_refused_by_name(learner: Learner, whole: Path) -> None:
    before = content(whole)
    errors = learner.train(whole, "training.rank=3", "filter.max_per_object=4", code=2)
    assert len(errors.strip().splitlines()) == 1
    assert "filter.max_per_object" in errors and "training.rank" in errors and "training.batch" not in errors
    assert content(whole) == before


@pytest.mark.slow
def test_phases_that_are_not_over_learn_at_another_rate(learner: Learner, whole: Path, tmp_path: Path) -> None:
    out = shutil.copytree(whole, tmp_path / "half")
    shutil.rmtree(out / "iteration-2")
    before = {name: adapter_weights(out / name) for name in PHASES[1:3]}
    errors = learner.train(out, "training.learning_rate=1e-4")
    assert "training.learning_rate=0.0001 instead of 0.0003 for iteration-2; the others stay" in errors
    assert before == {name: adapter_weights(out / name) for name in before}
    assert '"learning_rate": 5e-05,' in (out / "iteration-2/adapter/README.md").read_text()
    # Nothing is left that could be learned at yet another rate; imitation was learned at the first one.
    learner.train(out, "training.learning_rate=1e-4")
    for change in ("training.learning_rate=1e-5", "imitation_learning_rate=1e-5"):
        errors = learner.train(out, "training.learning_rate=1e-4", change, code=2)
        assert f"other settings ({change.partition('=')[0]})" in errors


@pytest.mark.parametrize(
    "done",
    ["", "demonstrate/episodes/a.jsonl", "untrained/evaluation/test/episodes/a.jsonl.failed", "imitate/model.json"],
)
def test_other_settings_are_welcome_until_something_is_done(learner: Learner, tmp_path: Path, done: str) -> None:
    def settings(seed: int) -> SelfTrainingConfig:
        run = {"seed": seed, "model": f"local:{learner.model}", "prompt": str(learner.prompt)}
        return load_selftraining(settings={"run": run})

    (tmp_path / "config.json").write_text(settings(1).model_dump_json())
    if done:
        (tmp_path / done).parent.mkdir(parents=True)
        trained = {"model": f"local:{learner.model}", "adapter": None}
        (tmp_path / done).write_text(json.dumps(trained) if done.endswith("model.json") else "")
        with pytest.raises(UserError, match=r"other settings \(run\.seed\)"):
            SelfTraining(settings(2), tmp_path, Unheard())
        SelfTraining(settings(1), tmp_path, Unheard())
    else:
        SelfTraining(settings(2), tmp_path, Unheard())
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(UserError, match="not the settings of a self-training"):
            SelfTraining(settings(2), tmp_path, Unheard())


@pytest.mark.slow
def test_an_iteration_without_good_plans_leaves_the_model_as_it_is(learner: Learner) -> None:
    out = learner.folder / "nothing"
    errors = learner.train(out, "filter.name=positive")
    for phase in PHASES[2:]:
        assert re.search(rf"{phase}: \|D\| = 0 of [1-9]\d* plans \(filter positive\); nothing to learn", errors)
        assert not list((out / phase).glob("adapter*")) and not (out / phase / "pairs.jsonl").exists()
    phases = json.loads((out / "summary.json").read_text())["phases"]
    assert [phase["phase"] for phase in phases] == PHASES
    assert {phase["adapter"] for phase in phases[1:]} == {str(out / "imitate" / "adapter")}
    used = json.loads((out / "iteration-2" / "grow" / "config.json").read_text())["models"]["agent"]["adapter"]
    assert used == str(out / "imitate" / "adapter")
    # In a folder that has been moved meanwhile, too.
    moved = out.rename(learner.folder / "moved")
    learner.train(moved, "filter.name=positive")
    assert json.loads((moved / "summary.json").read_text())["phases"][-1]["adapter"] == str(moved / "imitate/adapter")
    assert "(filter.name)" in learner.train(moved, "iterations=1", code=2)


def test_tasks_are_not_changed_under_their_name(learner: Learner, whole: Path) -> None:
    others = learner.train(whole, "evaluation.tasks=[{name: test, houses: 2, seed: 70}]", code=2)
    assert "named test are of other tasks" in others
    twice = learner.train(whole, "evaluation.tasks=[{name: test}, {name: test, seed: 3}]", code=2)
    assert "several tasks are named test" in twice


def test_a_prompt_that_has_changed_is_noticed(learner: Learner, whole: Path) -> None:
    words = learner.prompt.read_text()
    learner.prompt.write_text(words.replace("Tidy", "Clean"))
    try:
        assert "has changed since" in learner.train(whole, code=2)
    finally:
        learner.prompt.write_text(words)
    assert (whole / "prompt.yaml").read_text() == words


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filter.name": "positve"}, "no filter 'positve'"),
        ({"run.planner": "scripted"}, "planner llm"),
        ({"run.model": "local:/no/such/folder"}, "no such folder"),
        ({"run.adapter": "tidy"}, "trained on smollm2"),
        ({"training.trainer": "openai"}, r"training\.trainer"),
        ({"training.trainer": "openai", "run.model": "gpt-4o"}, "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_played(
    learner: Learner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    given = {"run.model": f"local:{learner.model}", "run.data": "null", "run.prompt": "planner"} | settings
    config = load_selftraining(overrides=[f"{key}={value}" for key, value in given.items()])
    with pytest.raises(UserError, match=message):
        SelfTraining(config, tmp_path / "out", Unheard())
    assert not (tmp_path / "out").exists()


def test_episodes_that_the_next_iteration_collects_measure_the_model(learner: Learner) -> None:
    out = learner.folder / "collected"
    sampling = ["run.sampling.temperature=1", "run.sampling.top_p=1", "grow.temperature=1", "grow.top_p=1"]
    tasks = "evaluation.tasks=[{name: train, episodes: train, houses: 2, seed: 2000}]"
    more = ["iterations=1", "replay_fraction=0", "evaluation.untrained=false", "evaluation.repeats=1", tasks]
    learner.train(out, *sampling, *more)
    imitated, improved = json.loads((out / "summary.json").read_text())["phases"]
    collected = json.loads((out / "iteration-1" / "grow" / "metrics.json").read_text())["overall"]
    assert imitated["evaluation"]["train"] == collected and collected["episodes"] == 2
    assert [path.parts[-3] for path in out.glob("*/evaluation/train")] == [improved["phase"]] == ["iteration-1"]
